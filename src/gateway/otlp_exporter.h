#pragma once
/// Sends what ended to an OpenTelemetry collector. Who serves a client never waits for it: spans go into a bounded
/// queue, and what does not fit or does not arrive is counted and gone.
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "gateway/otlp.h"
#include "net/client.h"

namespace ace::gateway {

class OtlpExporter {
 public:
  struct Options {
    net::Origin collector;
    std::string path = "/v1";  ///< before /traces and /metrics
    std::string fields{};      ///< lines added to each request, e.g. of a vendor's key
    std::string version{};     ///< of ACE
    std::size_t queue = 2048;  ///< spans
    std::size_t batch = 512;
    Duration interval{5 * kSecond};  ///< between two sendings; sooner once a batch is full
    Duration patience{5 * kSecond};  ///< with one
  };
  /// @param loop, client  of one loop, on which everything is sent; outlive the exporter
  OtlpExporter(Options options, net::Loop& loop, net::Client& client);
  /// On the loop, after stop().
  ~OtlpExporter();

  /// From any thread; never waits.
  void offer(SpanRecord span);
  /// On the loop: begins to send.
  void start();
  /// On the loop: what waits is sent once more. @param done called when nothing is under way any longer
  void stop(std::function<void()> done);

  struct Counts {
    std::uint64_t offered = 0, sent = 0, dropped = 0, lost = 0;  ///< dropped: the queue was full; lost: not taken
  };
  [[nodiscard]] Counts counts() const;

 private:
  net::Task<> run();
  net::Task<bool> post(const char* what, std::string body);
  std::vector<SpanRecord> take();

  const Options options_;
  net::Loop& loop_;
  net::Client& client_;
  net::Cancel cancel_;
  GenAiMetrics metrics_;  ///< of the loop
  mutable std::mutex mutex_;
  std::deque<SpanRecord> queue_;
  std::atomic<std::uint64_t> offered_ = 0, sent_ = 0, dropped_ = 0, lost_ = 0;
  bool stopping_ = false, running_ = false;  ///< of the loop
  std::function<void()> stopped_;
};

}  // namespace ace::gateway
