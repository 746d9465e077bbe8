/* The driver of the stand-in: sizes the block, reads p (its count first) and the input ports from stdin, prints
 * the ports' sizes and the outputs as Simulink would hold them, columns after columns. */
#include <stdio.h>

static SimStruct stub;

static int stub_read(double *x, int count)
{
    int k;
    for (k = 0; k < count; ++k)
        if (scanf("%lf", &x[k]) != 1)
            return 0;
    return 1;
}

int main(void)
{
    int k, i, count;
    if (scanf("%d", &count) != 1 || !stub_read(stub.parameter.x, count))
        return 2;
    stub.parameter.count = (size_t)count;
    stub.given_parameters = count > 0;
    mdlInitializeSizes(&stub);
    mdlInitializeSampleTimes(&stub);
    if (stub.error) {
        printf("%s\n", stub.error);
        return 1;
    }
    for (k = 0; k < stub.n_in; ++k)
        if (!stub.in[k].contiguous || !stub.in[k].direct ||
            !stub_read(stub.in[k].signal, stub.in[k].width))
            return 3;
    mdlOutputs(&stub, 0);
    mdlTerminate(&stub);
    for (k = 0; k < stub.n_out; ++k) {
        printf("%d %d", stub.out[k].rows, stub.out[k].columns);
        for (i = 0; i < stub.out[k].width; ++i)
            printf(" %.17g", stub.out[k].signal[i]);
        printf("\n");
    }
    return 0;
}
