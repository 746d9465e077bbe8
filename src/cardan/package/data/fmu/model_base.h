
#define MODEL_GRAVITY {@GRAVITY@} /* in the world */
