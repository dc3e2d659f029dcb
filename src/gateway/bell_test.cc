#include "gateway/bell.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>

namespace ace::gateway {
namespace {

TEST(Bell, may_be_rung_when_it_and_its_loop_have_gone) {
  std::function<void()> ring;
  {
    const auto loop = std::make_unique<net::Loop>();
    const Bell bell(*loop);
    ring = bell.ringer();
  }
  ring();  // the address sanitizer would say what it touched
}

}  // namespace
}  // namespace ace::gateway
