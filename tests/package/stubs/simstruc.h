/* A stand-in for Simulink's SimStruct, written for the tests: enough of level 2 to size a block and to
 * run it once. cg_sfun.h is the driver. */
#ifndef STUB_SIMSTRUC_H
#define STUB_SIMSTRUC_H
#include <stddef.h>

#define STUB_PORTS 8
#define STUB_WIDTH 4096
#define INHERITED_SAMPLE_TIME (-1.0)
#define SS_OPTION_WORKS_WITH_CODE_REUSE 1
#define SS_OPTION_EXCEPTION_FREE_CODE 2

typedef int int_T;
typedef struct {
    double x[STUB_WIDTH];
    size_t count;
} mxArray;
typedef struct {
    double signal[STUB_WIDTH];
    int width, rows, columns, contiguous, direct;
} stub_port;
typedef struct {
    stub_port in[STUB_PORTS], out[STUB_PORTS];
    mxArray parameter;
    int n_in, n_out, n_parameters, given_parameters, sample_times;
    const char *error;
} SimStruct;

static inline int mxIsDouble(const mxArray *a) { return a != NULL; }
static inline int mxIsComplex(const mxArray *a) { return a == NULL; }
static inline int mxIsSparse(const mxArray *a) { return a == NULL; }
static inline size_t mxGetNumberOfElements(const mxArray *a) { return a->count; }
static inline double *mxGetPr(const mxArray *a) { return (double *)a->x; }

#define ssGetSFcnParam(S, k) ((const mxArray *)&(S)->parameter)
#define ssSetErrorStatus(S, text) ((S)->error = (text))
#define ssGetErrorStatus(S) ((S)->error)
#define ssSetNumSFcnParams(S, n) ((S)->n_parameters = (n))
#define ssGetNumSFcnParams(S) ((S)->n_parameters)
#define ssGetSFcnParamsCount(S) ((S)->given_parameters)
#define ssSetSFcnParamTunable(S, k, flag) ((void)(S), (void)(k), (void)(flag))
#define ssSetNumContStates(S, n) ((void)(S), (void)(n))
#define ssSetNumDiscStates(S, n) ((void)(S), (void)(n))
#define ssSetNumInputPorts(S, n) ((S)->n_in = (n))
#define ssSetNumOutputPorts(S, n) ((S)->n_out = (n))
#define ssSetInputPortWidth(S, k, n) ((S)->in[k].width = (n))
#define ssSetInputPortRequiredContiguous(S, k, flag) ((S)->in[k].contiguous = (flag))
#define ssSetInputPortDirectFeedThrough(S, k, flag) ((S)->in[k].direct = (flag))
#define ssSetOutputPortWidth(S, k, n) ((S)->out[k].width = (n))
#define ssSetOutputPortMatrixDimensions(S, k, m, n) \
    ((S)->out[k].rows = (m), (S)->out[k].columns = (n), (S)->out[k].width = (m) * (n))
#define ssGetInputPortSignal(S, k) ((const void *)(S)->in[k].signal)
#define ssGetOutputPortSignal(S, k) ((void *)(S)->out[k].signal)
#define ssSetNumSampleTimes(S, n) ((S)->sample_times = (n))
#define ssSetOptions(S, options) ((void)(S), (void)(options))
#define ssSetSampleTime(S, k, t) ((void)(S), (void)(t))
#define ssSetOffsetTime(S, k, t) ((void)(S), (void)(t))
#define ssSetModelReferenceSampleTimeDefaultInheritance(S) ((void)(S))
#endif
