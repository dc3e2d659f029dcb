#pragma once
/// One connection of the server: its requests one after the other.
#include "net/body.h"
#include "net/exchange.h"
#include "net/inbox.h"
#include "net/server.h"

namespace ace::net {

class Connection final : public Exchange {
 public:
  /// @param options, handler outlive it
  Connection(std::unique_ptr<Stream> stream, PeerName peer, const ServerOptions& options, Handler& handler);

  /// Serves until the peer, a fault, a deadline or drain() ends it; then the stream is closed and nothing is under way.
  Task<> run();
  /// Ends at once if between requests, else with the answer to the one at hand.
  void drain();
  /// Ends now, whatever is under way.
  void cut();

  const RequestHead& head() const override { return head_; }
  const PeerName& peer() const override { return peer_; }
  Loop& loop() const override { return stream_->loop(); }
  Cancel& gone() override { return *gone_; }
  Task<Body> read_body() override;
  Task<Io> respond(int status, std::string_view fields, std::string_view body) override;
  Task<Io> refuse(Fault fault) override;
  Task<Io> begin(int status, std::string_view fields, std::optional<std::uint64_t> length) override;
  Task<Io> write(std::string_view piece) override;
  Task<Io> end() override;
  Task<Io> write_raw(std::string_view bytes) override;

 private:
  enum class Answer : std::uint8_t { none, streaming, done };
  enum class Ending : std::uint8_t { chunked, counted, close };
  Task<bool> read_head(bool first);
  Task<> serve_one();
  Task<Io> read_rest(Body& body);
  Task<Io> send(Parts parts);
  Task<> linger();
  void start_head(int status, std::string_view fields);
  void watch();
  [[nodiscard]] Steady body_deadline(std::uint64_t received) const;

  std::unique_ptr<Stream> stream_;
  PeerName peer_;
  const ServerOptions* options_;
  Handler* handler_;
  Inbox inbox_;
  HeadScanner scanner_;
  BodyDecoder decoder_;
  std::string head_text_;  ///< what head_ points into
  RequestHead head_;
  std::string out_;  ///< head of the answer
  std::unique_ptr<Cancel> gone_;
  std::function<void()> finished_reading_;
  Steady body_start_{};
  Answer answer_ = Answer::none;
  Ending ending_ = Ending::chunked;
  std::uint64_t left_ = 0;  ///< of a counted answer
  bool keep_alive_ = true, between_ = true, draining_ = false, lingering_ = false;
};

}  // namespace ace::net
