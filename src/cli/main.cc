#include <unistd.h>

#include <iostream>

#include "cli/cli.h"

int main(int argc, char** argv) {
  ace::cli::Context context;
  context.out = &std::cout;
  context.err = &std::cerr;
  context.err_is_terminal = isatty(STDERR_FILENO) == 1;
  return ace::cli::run(argc, argv, context);
}
