#include "trace/generate.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "trace/generate_sessions.h"

namespace ace {
namespace {

/// A request before it is dressed as an Arrival.
struct Row {
  std::int64_t at;
  std::uint32_t client;
  std::int32_t prompt;
  std::int32_t output;
  bool batch;
};

/// One client's process, stopped at its next arrival.
class Client {
 public:
  Client(const ClientSpec& spec, std::uint32_t number, const Rng& root)
      : spec_(&spec), number_(number), root_(root), gap_rng_(root.split("gaps")), token_rng_(root.split("tokens")) {
    if (enter(true)) find();
  }

  [[nodiscard]] bool over() const { return over_; }
  [[nodiscard]] std::int64_t next_at() const { return at_; }

  /// Appends all arrivals before `end`, in order.
  void fill(std::int64_t end, std::vector<Row>& rows) {
    while (!over_ && at_ < end) {
      rows.push_back(draw());
      left_ += window_.gaps.next(gap_rng_);
      if (left_ < load_) [[likely]]
        place();
      else
        find();
    }
  }

 private:
  /// The next window. A fresh one draws from streams of its own, so that days can be made alone and stay the same.
  bool enter(bool first) {
    if (!spec_->feed->next(window_)) {
      over_ = true;
      return false;
    }
    if (window_.fresh) {
      gap_rng_ = root_.split(2 * window_.number);
      token_rng_ = root_.split(2 * window_.number + 1);
    }
    if (window_.fresh || first)
      left_ = window_.gaps.residual(gap_rng_);
    else
      left_ -= load_;
    load_ = window_.rate_per_s * 1e-9 * static_cast<double>(window_.length);
    nanos_per_unit_ = load_ > 0 ? static_cast<double>(window_.length) / load_ : 0.0;
    return true;
  }

  void find() {
    while (left_ >= load_)
      if (!enter(false)) return;
    place();
  }

  void place() { at_ = window_.from + static_cast<std::int64_t>(left_ * nanos_per_unit_); }

  Row draw() {
    const double u = token_rng_.uniform();
    double v = token_rng_.uniform();
    if (spec_->correlation != 0.0 && token_rng_.chance(std::fabs(spec_->correlation)))
      v = spec_->correlation > 0 ? u : std::min(1.0 - u, 1.0 - 0x1.0p-53);
    const auto prompt = static_cast<std::int32_t>(window_.prompt->at(u) + 0.5);
    auto output = static_cast<std::int32_t>(window_.output->at(v) + 0.5);
    if (!spec_->max_output.empty()) output = std::min(output, spec_->max_output.back());
    const bool batch = spec_->batch > 0.0 && token_rng_.chance(spec_->batch);
    return {at_, number_, std::max(prompt, 1), std::max(output, 1), batch};
  }

  const ClientSpec* spec_;
  std::uint32_t number_;
  Rng root_, gap_rng_, token_rng_;
  PaceWindow window_{};
  double left_ = 0.0;  ///< position of the next arrival in the window, in expected requests
  double load_ = 0.0;  ///< of the window, in expected requests
  double nanos_per_unit_ = 0.0;
  std::int64_t at_ = 0;
  bool over_ = false;
};

/// Sorts by (time, client) what was appended client by client: one counting pass, then tiny runs.
class RowSorter {
 public:
  void sort(std::vector<Row>& rows, std::int64_t from, std::int64_t length) {
    const std::size_t n = rows.size();
    if (n < 2) return;
    sorted_.resize(n);
    start_.assign(n + 1, 0);
    const double per_nano = static_cast<double>(n) / static_cast<double>(length);
    const auto bucket_of = [&](const Row& row) {
      return std::min(static_cast<std::size_t>(static_cast<double>(row.at - from) * per_nano), n - 1);
    };
    for (const Row& row : rows) ++start_[bucket_of(row) + 1];
    for (std::size_t i = 0; i < n; ++i) start_[i + 1] += start_[i];
    for (const Row& row : rows) sorted_[start_[bucket_of(row)]++] = row;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < n; ++i) {  // start_[i] is now the end of bucket i
      if (start_[i] - begin > 1) settle(begin, start_[i]);
      begin = start_[i];
    }
    rows.swap(sorted_);
  }

 private:
  void settle(std::size_t begin, std::size_t end) {  // stable: equal times keep the order of clients
    if (end - begin > 32) {
      std::stable_sort(sorted_.begin() + static_cast<std::ptrdiff_t>(begin),
                       sorted_.begin() + static_cast<std::ptrdiff_t>(end),
                       [](const Row& a, const Row& b) { return a.at < b.at; });
      return;
    }
    for (std::size_t i = begin + 1; i < end; ++i) {
      const Row row = sorted_[i];
      std::size_t j = i;
      for (; j > begin && sorted_[j - 1].at > row.at; --j) sorted_[j] = sorted_[j - 1];
      sorted_[j] = row;
    }
  }
  std::vector<Row> sorted_;
  std::vector<std::size_t> start_;
};

class Merged final : public RequestSource {
 public:
  Merged(std::vector<ClientSpec> specs, std::string format, std::int64_t from, const GenerateOptions& options)
      : specs_(std::move(specs)), format_(std::move(format)), from_(from), options_(options) {
    for (const ClientSpec& spec : specs_) {
      Dress dress;
      dress.model = models_(spec.model);
      dress.tenant = tenants_(spec.name);
      dress.team = teams_(spec.team);
      dress.blocks = spec.prefix.system_blocks > 0 || spec.prefix.continued > 0;
      dresses_.push_back(dress);
    }
    start();
  }

  Result<std::size_t> next(std::span<Arrival> batch) override {
    blocks_.clear();
    std::size_t n = 0;
    while (n < batch.size() && given_ < options_.limit) {
      if (used_ == rows_.size() && !refill()) break;
      const std::size_t here =
          std::min({batch.size() - n, rows_.size() - used_,
                    static_cast<std::size_t>(std::min<std::uint64_t>(options_.limit - given_, rows_.size()))});
      for (std::size_t i = 0; i < here; ++i) dress(rows_[used_ + i], batch[n + i]);
      used_ += here;
      n += here;
    }
    if (!blocks_.empty()) {
      std::size_t begin = 0;
      for (std::size_t i = 0; i < n; ++i) {
        const std::size_t length = ends_[i] - begin;
        batch[i].blocks = std::span(blocks_).subspan(begin, length);
        begin = ends_[i];
      }
    }
    ends_.clear();
    return n;
  }

  Result<void> rewind() override {
    for (ClientSpec& spec : specs_) spec.feed->rewind();
    start();
    return {};
  }

  [[nodiscard]] const Interner& models() const override { return models_; }
  [[nodiscard]] const Interner& tenants() const override { return tenants_; }
  [[nodiscard]] const Interner& teams() const override { return teams_; }
  [[nodiscard]] std::string format() const override { return format_; }

 private:
  struct Dress {
    std::uint32_t model = 0, tenant = 0, team = 0;
    bool blocks = false;
  };

  void start() {
    const Rng root(options_.seed, "trace/generate");
    clients_.clear();
    sessions_.clear();
    for (std::uint32_t i = 0; i < specs_.size(); ++i) {  // by name, so that another client changes nobody's draws
      const Rng own = root.split(specs_[i].name + '\0' + specs_[i].team + '\0' + specs_[i].model);
      clients_.emplace_back(specs_[i], i, own);
      sessions_.emplace_back(specs_[i].prefix, own.split("sessions"));
    }
    rows_.clear();
    used_ = 0;
    given_ = 0;
    next_block_ = 0;
    slice_ = kSecond.count();
  }

  /// The next slice that holds anything. Its length follows the load; it never changes what comes out.
  bool refill() {
    used_ = 0;
    do {
      std::int64_t first = std::numeric_limits<std::int64_t>::max();
      for (const Client& client : clients_)
        if (!client.over()) first = std::min(first, client.next_at());
      if (first == std::numeric_limits<std::int64_t>::max()) {
        rows_.clear();
        return false;
      }
      rows_.clear();
      for (Client& client : clients_) client.fill(first + slice_, rows_);
      sorter_.sort(rows_, first, slice_);
      if (rows_.size() < kSliceRows / 2) slice_ = std::min(slice_ * 2, kHour.count());
      if (rows_.size() > kSliceRows * 2) slice_ = std::max<std::int64_t>(slice_ / 2, 1000);
      if (first < from_) skip();
    } while (rows_.empty());
    return true;
  }

  /// Drops what lies before the days asked for, after the conversations have seen it.
  void skip() {
    std::vector<std::uint32_t> unused;
    const auto keep = std::find_if(rows_.begin(), rows_.end(), [this](const Row& row) { return row.at >= from_; });
    for (auto row = rows_.begin(); row != keep; ++row) {
      unused.clear();
      if (dresses_[row->client].blocks) sessions_[row->client].attach(row->at, row->prompt, next_block_, unused);
    }
    rows_.erase(rows_.begin(), keep);
  }

  void dress(const Row& row, Arrival& arrival) {
    const Dress& dress = dresses_[row.client];
    arrival = Arrival{};
    arrival.at = instant(row.at);
    arrival.row = static_cast<std::int64_t>(++given_);
    arrival.model = dress.model;
    arrival.tenant = dress.tenant;
    arrival.team = dress.team;
    arrival.prompt = row.prompt;
    arrival.output = row.output;
    arrival.batch = row.batch;
    for (const std::int32_t limit : specs_[row.client].max_output) {
      arrival.max_output = limit;
      if (limit >= row.output) break;
    }
    if (dress.blocks) sessions_[row.client].attach(row.at, row.prompt, next_block_, blocks_);
    ends_.push_back(blocks_.size());
  }

  static constexpr std::size_t kSliceRows = 8192;
  std::vector<ClientSpec> specs_;
  std::string format_;
  std::int64_t from_;
  GenerateOptions options_;
  Interner models_, tenants_, teams_;
  std::vector<Dress> dresses_;
  std::vector<Client> clients_;
  std::vector<Sessions> sessions_;
  std::vector<Row> rows_;
  RowSorter sorter_;
  std::size_t used_ = 0;
  std::uint64_t given_ = 0;
  std::int64_t slice_ = 0;
  std::uint32_t next_block_ = 0;
  std::vector<std::uint32_t> blocks_;  ///< of the batch given out last
  std::vector<std::size_t> ends_;
};

}  // namespace

std::unique_ptr<RequestSource> merge_clients(std::vector<ClientSpec> clients, std::string format, std::int64_t from,
                                             const GenerateOptions& options) {
  return std::make_unique<Merged>(std::move(clients), std::move(format), from, options);
}

}  // namespace ace
