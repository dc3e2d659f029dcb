#pragma once
/// Task<T>: a coroutine that starts when it is awaited and hands its value to who awaits it.
///
/// GCC 12 copies the bytes of temporaries that are built with braces within a co_await expression: name every value
/// that owns something (a string, a pointer, a vector) before it is an argument of what is awaited.
#include <coroutine>
#include <exception>
#include <optional>
#include <utility>

#include "net/frames.h"

namespace ace::net {

template <class T = void>
class Task;

namespace detail {

/// Sanitizers see the life of each frame only where each has memory of its own.
struct FromFrameStore {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  static void* operator new(std::size_t size) { return FrameStore::of_this_thread().take(size); }
  static void operator delete(void* frame, std::size_t size) { FrameStore::of_this_thread().give(frame, size); }
#endif
};

struct PromiseBase : FromFrameStore {
  std::coroutine_handle<> awaiting = std::noop_coroutine();
  std::suspend_always initial_suspend() noexcept { return {}; }
  struct Resume {
    bool await_ready() noexcept { return false; }
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> done) noexcept {
      return done.promise().awaiting;
    }
    void await_resume() noexcept {}
  };
  Resume final_suspend() noexcept { return {}; }
  /// Nothing of ours throws; running out of memory ends the process.
  [[noreturn]] void unhandled_exception() noexcept { std::terminate(); }
};

template <class T>
struct Promise : PromiseBase {
  std::optional<T> value;
  Task<T> get_return_object();
  template <class U>
  void return_value(U&& v) {
    value.emplace(std::forward<U>(v));
  }
  T take() { return std::move(*value); }
};

template <>
struct Promise<void> : PromiseBase {
  Task<void> get_return_object();
  void return_void() {}
  void take() {}
};

}  // namespace detail

/// Owns the coroutine: dropping a task that has not finished destroys its frame. Awaited once.
template <class T>
class [[nodiscard]] Task {
 public:
  using promise_type = detail::Promise<T>;
  explicit Task(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Task& operator=(Task&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Task() {
    if (handle_) handle_.destroy();
  }

  bool await_ready() const { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> awaiting) {
    handle_.promise().awaiting = awaiting;
    return handle_;
  }
  T await_resume() { return handle_.promise().take(); }

 private:
  std::coroutine_handle<promise_type> handle_;
};

template <class T>
Task<T> detail::Promise<T>::get_return_object() {
  return Task<T>(std::coroutine_handle<Promise>::from_promise(*this));
}
inline Task<void> detail::Promise<void>::get_return_object() {
  return Task<void>(std::coroutine_handle<Promise>::from_promise(*this));
}

/// A coroutine on its own: starts at once and frees itself when it ends.
struct Detached {
  struct promise_type : detail::FromFrameStore {
    Detached get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    [[noreturn]] void unhandled_exception() noexcept { std::terminate(); }
  };
};

/// Runs a task without waiting for it. What it refers to must outlive it.
inline Detached detach(Task<> task) { co_await task; }

}  // namespace ace::net
