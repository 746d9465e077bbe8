static void set_vector(SimStruct *S, int port, int width)
{
    ssSetOutputPortWidth(S, port, width);
}
