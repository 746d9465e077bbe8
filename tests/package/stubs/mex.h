/* The few declarations of the MEX interface that a gateway needs, written for the tests: this machine may have
 * Octave without its headers, and never has MATLAB's. The functions are those that Octave exports. */
#ifndef STUB_MEX_H
#define STUB_MEX_H
#include <stddef.h>
#include <stdint.h>

typedef struct stub_array mxArray;
typedef int64_t mwSize;
typedef enum { mxDOUBLE_CLASS = 6 } mxClassID;
typedef enum { mxREAL = 0 } mxComplexity;

extern _Bool mxIsDouble(const mxArray *array);
extern _Bool mxIsComplex(const mxArray *array);
extern _Bool mxIsSparse(const mxArray *array);
extern size_t mxGetNumberOfElements(const mxArray *array);
extern double *mxGetPr(const mxArray *array);
extern mxArray *mxCreateNumericArray(mwSize rank, const mwSize *size, mxClassID type,
                                     mxComplexity complexity);
extern void mexErrMsgIdAndTxt(const char *id, const char *format, ...);
void mexFunction(int n_left, mxArray *left[], int n_right, const mxArray *right[]);
#endif
