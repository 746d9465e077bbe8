/* MEX gateway of @FUNCTION@ for MATLAB and Octave: the same arguments as @FUNCTION@.m.
 * The generated code comes first, so that no macro of mex.h can change it. */
#include "@FUNCTION@.c"

#include "mex.h"

typedef struct {
    const char *name;
    int rank;
    size_t size[@RANK@];
} shape;

static const shape inputs[@N_INPUTS@] = {
@INPUTS@
};
static const shape outputs[@N_OUTPUTS@] = {
@OUTPUTS@
};

static size_t elements(const shape *a)
{
    size_t count = 1;
    int i;
    for (i = 0; i < a->rank; ++i)
        count *= a->size[i];
    return count;
}

/* Where element k of the rows is in the columns that MATLAB keeps. */
static size_t column_place(const shape *a, size_t k)
{
    size_t place = 0, stride = elements(a);
    int i;
    for (i = a->rank - 1; i >= 0; --i) {
        stride /= a->size[i];
        place += (k % a->size[i]) * stride;
        k /= a->size[i];
    }
    return place;
}

static void read_rows(const shape *a, const mxArray *given, double *rows)
{
    const size_t count = elements(a);
    size_t k;
    const double *x;
    if (!mxIsDouble(given) || mxIsComplex(given) || mxIsSparse(given))
        mexErrMsgIdAndTxt("cardan:type", "@FUNCTION@_mex: %s must be a full real double array",
                          a->name);
    if ((size_t)mxGetNumberOfElements(given) != count)
        mexErrMsgIdAndTxt("cardan:size", "@FUNCTION@_mex: %s has %d elements; expected %d",
                          a->name, (int)mxGetNumberOfElements(given), (int)count);
    x = mxGetPr(given);
    for (k = 0; k < count; ++k)
        rows[k] = x[column_place(a, k)];
}

static mxArray *columns(const shape *a, const double *rows)
{
    mwSize size[@RANK@];
    mxArray *made;
    double *x;
    size_t k;
    int i;
    for (i = 0; i < a->rank; ++i)
        size[i] = (mwSize)a->size[i];
    made = mxCreateNumericArray((mwSize)a->rank, size, mxDOUBLE_CLASS, mxREAL);
    x = mxGetPr(made);
    for (k = 0; k < elements(a); ++k)
        x[column_place(a, k)] = rows[k];
    return made;
}

void mexFunction(int n_left, mxArray *left[], int n_right, const mxArray *right[])
{
@BUFFERS@
    if (n_right != @N_INPUTS@ || n_left > @N_OUTPUTS@)
        mexErrMsgIdAndTxt("cardan:count",
                          "@FUNCTION@_mex takes @N_INPUTS@ arguments and has @N_OUTPUTS@ results");
@READS@
    @CALL@
@WRITES@
}
