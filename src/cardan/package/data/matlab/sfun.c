/* Simulink level-2 S-function of @FUNCTION@: a port per array, no states.
 * The generated code comes first, so that no macro of simstruc.h can change it. */
#include "@FUNCTION@.c"

#define S_FUNCTION_NAME @FUNCTION@_sfun
#define S_FUNCTION_LEVEL 2
#include "simstruc.h"

#define N_PARAMETERS @N_PARAMETERS@ /* elements of the vector p, the block's parameter */

static void set_input(SimStruct *S, int port, int width)
{
    ssSetInputPortWidth(S, port, width);
    ssSetInputPortRequiredContiguous(S, port, 1);
    ssSetInputPortDirectFeedThrough(S, port, 1);
}

@HELPERS@
#if N_PARAMETERS > 0
#define MDL_CHECK_PARAMETERS
static void mdlCheckParameters(SimStruct *S)
{
    const mxArray *p = ssGetSFcnParam(S, 0);
    if (!mxIsDouble(p) || mxIsComplex(p) || mxIsSparse(p) ||
        (int)mxGetNumberOfElements(p) != N_PARAMETERS)
        ssSetErrorStatus(S, "@FUNCTION@_sfun: the parameter p must be a real vector of "
                            "@N_PARAMETERS@ elements");
}
#endif

static void mdlInitializeSizes(SimStruct *S)
{
    ssSetNumSFcnParams(S, N_PARAMETERS > 0);
    if (ssGetNumSFcnParams(S) != ssGetSFcnParamsCount(S))
        return; /* Simulink reports the mismatch */
#if N_PARAMETERS > 0
    mdlCheckParameters(S);
    if (ssGetErrorStatus(S) != NULL)
        return;
    ssSetSFcnParamTunable(S, 0, 1);
#endif
    ssSetNumContStates(S, 0);
    ssSetNumDiscStates(S, 0);
    if (!ssSetNumInputPorts(S, @N_INPUTS@) || !ssSetNumOutputPorts(S, @N_OUTPUTS@))
        return;
@INPUTS@
@OUTPUTS@
    ssSetNumSampleTimes(S, 1);
    ssSetOptions(S, SS_OPTION_WORKS_WITH_CODE_REUSE | SS_OPTION_EXCEPTION_FREE_CODE);
}

static void mdlInitializeSampleTimes(SimStruct *S)
{
    ssSetSampleTime(S, 0, INHERITED_SAMPLE_TIME);
    ssSetOffsetTime(S, 0, 0.0);
    ssSetModelReferenceSampleTimeDefaultInheritance(S);
}

static void mdlOutputs(SimStruct *S, int_T tid)
{
@BODY@
    (void)tid;
}

static void mdlTerminate(SimStruct *S)
{
    (void)S;
}

#ifdef MATLAB_MEX_FILE
#include "simulink.c"
#else
#include "cg_sfun.h"
#endif
