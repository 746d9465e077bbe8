static void set_matrix(SimStruct *S, int port, int rows, int columns)
{
    ssSetOutputPortMatrixDimensions(S, port, rows, columns);
}

static void transpose(const double *from, double *to, int rows, int columns)
{
    int i, j;
    for (i = 0; i < rows; ++i)
        for (j = 0; j < columns; ++j)
            to[j * rows + i] = from[i * columns + j];
}
