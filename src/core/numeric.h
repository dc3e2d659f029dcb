#pragma once
/// Elementary functions from + - * / only, so that a run has the same bits on every CPU, compiler and libm.
/// Relative error below 1e-14 over the ranges stated; compiled with -ffp-contract=off like everything else.

namespace ace::numeric {

/// Natural logarithm. @param x positive and normal
double log(double x);
/// e^x, 0 below -708 and the largest finite double above 709.
double exp(double x);
/// x^y by exp(y log x). @param x not negative
double pow(double x, double y);
/// Logarithm of the gamma function (Lanczos, g = 7, n = 9). @param x positive
double log_gamma(double x);

}  // namespace ace::numeric
