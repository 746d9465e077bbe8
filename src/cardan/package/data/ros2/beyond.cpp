    try {
        Eigen::VectorXd nowhere(n);
        for (int i = 0; i < n; ++i)
            nowhere(i) = std::nan("");
        solver.getGravityVector(nowhere);
        std::printf("loops were closed nowhere\n");
        ++faults;
    } catch (const std::domain_error &) {
    }
