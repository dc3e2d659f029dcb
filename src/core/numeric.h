#pragma once
/// Elementary functions from + - * / only, so that a run has the same bits on every CPU, compiler and libm.
/// Relative error below 1e-14 over the ranges stated; compiled with -ffp-contract=off like everything else.

namespace ace::numeric {

/// Natural logarithm. @param x positive and normal
double log(double x);
/// e^x, 0 below -708 and the largest finite double above 709.
double exp(double x);
/// x^y by exp(y log x), so its relative error grows with |y log x|: below 1e-14 up to 20, below 1e-12 everywhere.
/// 0^y is 0, 1 or the largest finite double for y above, at or below 0. @param x not negative
double pow(double x, double y);
/// Logarithm of the gamma function (Lanczos, g = 7, n = 9). @param x positive
double log_gamma(double x);

}  // namespace ace::numeric
