    static const int place[@COUNT@] = {@PLACES@};
    double own[@COUNT@];
    int k;
    for (k = 0; k < @COUNT@; ++k)
        own[k] = p[place[k]];
