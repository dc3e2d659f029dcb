/// The admin API about the fleet, the mode and the configuration.
#include "gateway/admin_body.h"

namespace ace::gateway {
namespace {

using Json = nlohmann::ordered_json;
using Answer = Admin::Answer;
using Asked = Admin::Asked;

Answer openapi(const Asked& asked) {
  Answer out;
  out.text = Admin::openapi(asked.version());
  return out;
}

Answer metrics(const Asked& asked) {
  Answer out;
  out.text = asked.metrics().expose();
  out.type = "text/plain; version=0.0.4; charset=utf-8";
  return out;
}

Answer healthz(const Asked&) { return {200, Json({{"status", "ok"}})}; }

Answer readyz(const Asked& asked) {
  const ModeView mode = asked.steering().mode();
  if (mode.draining) return refusal(503, "draining", "the gateway takes no new requests");
  if (!mode.spine_writable) return refusal(503, "spine_unavailable", "events cannot be recorded");
  return {200, Json({{"status", "ok"}})};
}

Answer fleet(const Asked& asked) {
  Json all = Json::array();
  for (const DestinationView& d : asked.steering().destinations())
    all.push_back(
        {{"name", d.name}, {"tier", d.tier}, {"provider", d.provider}, {"models", d.models}, {"callable", d.callable}});
  return {200, Json({{"destinations", all}})};
}

Answer health(const Asked& asked) {
  Json all = Json::array();
  for (const DestinationView& d : asked.steering().destinations()) {
    const char* const state = d.tripped_until                                       ? "tripped"
                              : d.throttled_until && *d.throttled_until > asked.now ? "throttled"
                              : d.price_factor > 1.0                                ? "derated"
                                                                                    : "healthy";
    all.push_back({{"destination", d.name},
                   {"state", state},
                   {"in_flight", d.in_flight},
                   {"utilization", or_null(d.utilization)},
                   {"knee", or_null(d.knee)},
                   {"price_factor", or_null(d.price_factor)},
                   {"fail_probability", or_null(d.fail_probability)},
                   {"throttled_until", or_null(d.throttled_until)},
                   {"tripped_until", or_null(d.tripped_until)}});
  }
  return {200, Json({{"destinations", all}})};
}

/// A number of the query within bounds. @return null if it is no such number
std::optional<std::int64_t> number(const Asked& asked, std::string_view name, std::int64_t otherwise,
                                   std::int64_t most) {
  const std::optional<std::string> text = asked.value(name);
  if (!text) return otherwise;
  if (text->empty() || text->size() > 9 || text->find_first_not_of("0123456789") != std::string::npos)
    return std::nullopt;
  const std::int64_t value = std::stoll(*text);
  return value >= 1 && value <= most ? std::optional(value) : std::nullopt;
}

Answer curve(const Asked& asked) {
  const std::optional<std::string> model = asked.value("model");
  if (!model || model->empty()) return refusal(400, "invalid", "model: say of which, ?model=NAME");
  const auto prompt = number(asked, "prompt_tokens", 1000, 100'000'000),
             output = number(asked, "output_tokens", 200, 100'000'000);
  if (!prompt || !output)
    return refusal(400, "invalid", "prompt_tokens, output_tokens: expected whole numbers from 1 on");
  const Result<CurveView> got =
      asked.steering().supply_curve(*model, static_cast<double>(*prompt), static_cast<double>(*output));
  if (!got) return refusal(got.error());
  Json steps = Json::array(), excluded = Json::array();
  for (const StepView& s : got->steps)
    steps.push_back({{"destination", s.destination},
                     {"model", s.model},
                     {"tier", s.tier},
                     {"beyond_knee", s.beyond_knee},
                     {"usd_per_mtok", or_null(s.usd_per_mtok)},
                     {"input_usd_per_mtok", or_null(s.input_usd_per_mtok)},
                     {"output_usd_per_mtok", or_null(s.output_usd_per_mtok)},
                     {"tokens_per_s", or_null(s.tokens_per_s)},
                     {"cumulative_tokens_per_s", or_null(s.cumulative_tokens_per_s)}});
  for (const auto& [destination, why] : got->excluded) excluded.push_back({{"destination", destination}, {"why", why}});
  return {200, Json({{"model", got->model},
                     {"at", to_rfc3339(got->at)},
                     {"prompt_tokens", got->prompt_tokens},
                     {"output_tokens", got->output_tokens},
                     {"steps", steps},
                     {"excluded", excluded}})};
}

Answer decisions(const Asked& asked) {
  const auto most = number(asked, "limit", 50, 1000);
  if (!most) return refusal(400, "invalid", "limit: expected a whole number from 1 to 1000");
  Json all = Json::array();
  for (const DecisionView& d : asked.steering().decisions(static_cast<std::size_t>(*most)))
    all.push_back({{"request_id", d.request_id},
                   {"at", to_rfc3339(d.at)},
                   {"tenant", d.tenant},
                   {"model", d.model},
                   {"verdict", d.verdict},
                   {"destination", or_null(d.destination)},
                   {"acted", d.acted},
                   {"attempts", d.attempts},
                   {"served", d.served},
                   {"slo_met", d.slo_met},
                   {"cost_usd", to_decimal(d.cost)},
                   {"baseline_usd", to_decimal(d.baseline)}});
  return {200, Json({{"decisions", all}})};
}

Answer budgets(const Asked& asked) {
  Json all = Json::array();
  for (const BudgetView& b : asked.steering().budgets())
    all.push_back({{"name", b.name},
                   {"window", b.window},
                   {"tenant", or_null(b.tenant)},
                   {"team", or_null(b.team)},
                   {"project", or_null(b.project)},
                   {"key", or_null(b.key)},
                   {"model", or_null(b.model)},
                   {"hard", b.hard},
                   {"limit_usd", to_decimal(b.limit)},
                   {"spent_usd", to_decimal(b.spent)},
                   {"held_usd", to_decimal(b.held)},
                   {"left_usd", to_decimal(b.left)},
                   {"until", b.until == Instant::max() ? Json() : Json(to_rfc3339(b.until))}});
  return {200, Json({{"budgets", all}})};
}

Json view_of(const ModeView& m) {
  return {{"mode", m.mode},
          {"canary_share", m.canary_share},
          {"clean_windows", m.clean_windows},
          {"clean_windows_needed", m.clean_windows_needed},
          {"demoted", or_null(m.demoted)},
          {"in_flight", m.in_flight},
          {"waiting", m.waiting},
          {"spine_writable", m.spine_writable},
          {"draining", m.draining}};
}

Answer mode(const Asked& asked) { return {200, view_of(asked.steering().mode())}; }

/// How far what was predicted is off what came, as a share of it; null where nothing came.
Json error_of(double predicted, double realised) {
  return realised > 0.0 ? Json((predicted - realised) / realised) : Json();
}

Json view_of(const TrialArm& arm) {
  const auto usd = [](Usd amount) { return static_cast<double>(amount.nano); };
  return {{"requests", arm.requests},
          {"served", arm.served},
          {"cost_usd", to_decimal(arm.cost)},
          {"baseline_usd", to_decimal(arm.baseline)},
          {"predicted_cost_usd", to_decimal(arm.predicted)},
          {"cost_error", error_of(usd(arm.predicted), usd(arm.cost))},
          {"would_cost_usd", to_decimal(arm.would)},
          {"predicted_s", arm.predicted_s},
          {"realised_s", arm.realised_s},
          {"latency_error", error_of(arm.predicted_s, arm.realised_s)}};
}

Json view_of(const TrialWindow& w) {
  return {{"from", to_rfc3339(w.from)},
          {"to", to_rfc3339(w.to)},
          {"verdict", !w.breach.empty() ? "breached"
                      : w.enough        ? "clean"
                                        : "too_few"},
          {"breach", or_null(w.breach)},
          {"control", view_of(w.arms[0])},
          {"ace", view_of(w.arms[1])}};
}

Answer trial(const Asked& asked) {
  const auto most = number(asked, "limit", 12, 288);
  if (!most) return refusal(400, "invalid", "limit: expected a whole number from 1 to 288");
  const TrialView t = asked.steering().trial(static_cast<std::size_t>(*most));
  Json windows = Json::array();
  for (const TrialWindow& w : t.windows) windows.push_back(view_of(w));
  const Json difference = t.difference ? Json({{"mean", t.difference->mean},
                                               {"half_width", t.difference->half_width},
                                               {"windows", t.difference->windows}})
                                       : Json();
  return {200, Json({{"clean_windows", t.clean},
                     {"demoted", or_null(t.demoted)},
                     {"gates",
                      {{"window_s", to_seconds(t.gates.window)},
                       {"requests_min", t.gates.requests_min},
                       {"served_min", t.gates.served_min},
                       {"cost_error_max", t.gates.cost_error_max},
                       {"aa_difference_max", t.gates.aa_difference_max},
                       {"clean_windows", t.gates.clean_windows}}},
                     {"difference", difference},
                     {"total", {{"control", view_of(t.total[0])}, {"ace", view_of(t.total[1])}}},
                     {"windows", windows}})};
}

Answer set_mode(const Asked& asked) {
  std::string wanted;
  double share = 0.0;
  bool forced = false;
  BodyReader body(asked.body);
  if (!body.text("mode", wanted)) body.wrong("mode", "observe, shadow, canary or inline");
  body.share("canary_share", share);
  body.boolean("force", forced);
  body.done();
  if (auto refused = body.refused()) return *std::move(refused);
  const Result<void> set = asked.steering().set_mode(wanted, share, forced);
  return set ? mode(asked) : refusal(set.error());
}

Answer drain(const Asked& asked) {
  asked.steering().drain();
  return {202, Json({{"status", "draining"}})};
}

Answer config(const Asked& asked) { return {200, Json({{"config", asked.steering().config()}})}; }

/// The text that a body carries as `config`; others of its members may follow.
std::string config_in(BodyReader& body) {
  std::string text;
  if (!body.text("config", text, 1U << 20U)) body.wrong("config", "the text of an ace.yaml");
  return text;
}

Answer validate(const Asked& asked) {
  BodyReader body(asked.body);
  const std::string text = config_in(body);
  body.done();
  if (auto refused = body.refused()) return *std::move(refused);
  const Result<void> good = asked.steering().validate(text);
  return {200, Json({{"valid", good.has_value()}, {"mistakes", good ? Json() : Json(good.error().what())}})};
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    lines.push_back(text.substr(0, text.find('\n')));
    text.remove_prefix(std::min(lines.back().size() + 1, text.size()));
  }
  return lines;
}

/// What goes and what comes, line by line: the ends that both share are left out.
Answer diff(const Asked& asked) {
  BodyReader body(asked.body);
  const std::string text = config_in(body);
  body.done();
  if (auto refused = body.refused()) return *std::move(refused);
  const std::string now = asked.steering().config();
  std::vector<std::string_view> before = lines_of(now), after = lines_of(text);
  std::size_t line = 1;
  while (!before.empty() && !after.empty() && before.front() == after.front()) {
    before.erase(before.begin());
    after.erase(after.begin());
    ++line;
  }
  while (!before.empty() && !after.empty() && before.back() == after.back()) {
    before.pop_back();
    after.pop_back();
  }
  return {200, Json({{"line", line}, {"removed", before}, {"added", after}})};
}

Answer applied(const Result<std::vector<std::string>>& notes) {
  return notes ? Answer{200, Json({{"notes", *notes}})} : refusal(notes.error());
}

Answer apply(const Asked& asked) {
  BodyReader body(asked.body);
  const std::string text = config_in(body);
  bool acknowledged = false;
  body.boolean("acknowledged", acknowledged);
  body.done();
  if (auto refused = body.refused()) return *std::move(refused);
  return applied(asked.steering().apply(text, acknowledged));
}

Answer rollback(const Asked& asked) { return applied(asked.steering().rollback()); }

constexpr std::string_view kConfig =
    R"({"type":"object","required":["config"],"properties":{"config":{"type":"string"}}})";
constexpr std::string_view kNotes =
    R"({"type":"object","required":["notes"],"properties":{"notes":{"type":"array","items":{"type":"string"}}}})";
constexpr std::string_view kStatus =
    R"({"type":"object","required":["status"],"properties":{"status":{"type":"string"}}})";
constexpr std::string_view kMode =
    R"({"type":"object","required":["mode","canary_share","clean_windows","clean_windows_needed","demoted","in_flight","waiting","spine_writable","draining"]})";
constexpr std::string_view kTrial =
    R"({"type":"object","required":["clean_windows","demoted","gates","difference","total","windows"],"properties":{"total":{"type":"object","required":["control","ace"],"properties":{"control":{"$ref":"#/components/schemas/TrialArm"},"ace":{"$ref":"#/components/schemas/TrialArm"}}},"windows":{"type":"array","items":{"type":"object","required":["from","to","verdict","breach","control","ace"],"properties":{"verdict":{"enum":["clean","breached","too_few"]},"control":{"$ref":"#/components/schemas/TrialArm"},"ace":{"$ref":"#/components/schemas/TrialArm"}}}}}})";
constexpr std::string_view kTrialArm =
    R"({"type":"object","required":["requests","served","cost_usd","baseline_usd","predicted_cost_usd","cost_error","would_cost_usd","predicted_s","realised_s","latency_error"]})";
constexpr std::string_view kCount = R"({"type":"integer","minimum":1})";

}  // namespace

std::vector<Admin::Route> steering_routes() {
  return {
      {.method = "GET",
       .path = "/openapi.json",
       .summary = "This description",
       .for_all = true,
       .answers = R"({"type":"object","required":["openapi","info","paths"]})",
       .run = openapi},
      {.method = "GET", .path = "/metrics", .summary = "Counts for Prometheus", .for_all = true, .run = metrics},
      {.method = "GET",
       .path = "/healthz",
       .summary = "Whether the process runs",
       .for_all = true,
       .answers = kStatus,
       .run = healthz},
      {.method = "GET",
       .path = "/readyz",
       .summary = "Whether requests are taken",
       .for_all = true,
       .answers = kStatus,
       .run = readyz},
      {.method = "GET",
       .path = "/v1/fleet",
       .summary = "The destinations of the fleet in force",
       .answers =
           R"({"type":"object","required":["destinations"],"properties":{"destinations":{"type":"array","items":{"type":"object","required":["name","tier","provider","models","callable"]}}}})",
       .run = fleet},
      {.method = "GET",
       .path = "/v1/health",
       .summary = "How each destination fares, as it is believed now",
       .answers =
           R"({"type":"object","required":["destinations"],"properties":{"destinations":{"type":"array","items":{"type":"object","required":["destination","state","in_flight","utilization","knee","price_factor","fail_probability","throttled_until","tripped_until"]}}}})",
       .run = health},
      {.method = "GET",
       .path = "/v1/supply-curve",
       .summary = "What the next tokens of a model cost now, cheapest first",
       .query = {{"model", R"({"type":"string"})"}, {"prompt_tokens", kCount}, {"output_tokens", kCount}},
       .answers = R"({"type":"object","required":["model","at","prompt_tokens","output_tokens","steps","excluded"]})",
       .run = curve},
      {.method = "GET",
       .path = "/v1/decisions",
       .summary = "The requests that ended last, newest first",
       .query = {{"limit", kCount}},
       .answers =
           R"({"type":"object","required":["decisions"],"properties":{"decisions":{"type":"array","items":{"type":"object","required":["request_id","at","tenant","model","verdict","destination","acted","attempts","served","slo_met","cost_usd","baseline_usd"]}}}})",
       .run = decisions},
      {.method = "GET",
       .path = "/v1/budgets",
       .summary = "What each budget has spent, held and left",
       .answers =
           R"({"type":"object","required":["budgets"],"properties":{"budgets":{"type":"array","items":{"type":"object","required":["name","window","hard","limit_usd","spent_usd","held_usd","left_usd","until"]}}}})",
       .run = budgets},
      {.method = "GET",
       .path = "/v1/mode",
       .summary = "How far ACE acts, and what it lacks for the next step",
       .answers = kMode,
       .run = mode},
      {.method = "PUT",
       .path = "/v1/mode",
       .summary = "Another mode; a step up must be earned, or forced",
       .body =
           R"({"type":"object","required":["mode"],"properties":{"mode":{"enum":["observe","shadow","canary","inline"]},"canary_share":{"type":"number","minimum":0,"maximum":1},"force":{"type":"boolean"}}})",
       .answers = kMode,
       .run = set_mode},
      {.method = "GET",
       .path = "/v1/trial",
       .summary =
           "Windows of the trial, newest first: what each arm came to, what was predicted, and what was breached",
       .query = {{"limit", kCount}},
       .answers = kTrial,
       .run = trial},
      {.method = "POST",
       .path = "/v1/drain",
       .summary = "Takes no new requests, ends what is under way, then stops",
       .answers = kStatus,
       .run = drain},
      {.method = "GET",
       .path = "/v1/config",
       .summary = "The configuration in force",
       .answers = kConfig,
       .run = config},
      {.method = "POST",
       .path = "/v1/config/validate",
       .summary = "Whether a configuration could be put in force",
       .body = kConfig,
       .answers = R"({"type":"object","required":["valid","mistakes"]})",
       .run = validate},
      {.method = "POST",
       .path = "/v1/config/diff",
       .summary = "The lines between the configuration in force and another",
       .body = kConfig,
       .answers = R"({"type":"object","required":["line","removed","added"]})",
       .run = diff},
      {.method = "POST",
       .path = "/v1/config/apply",
       .summary = "Puts a configuration in force",
       .body =
           R"({"type":"object","required":["config"],"properties":{"config":{"type":"string"},"acknowledged":{"type":"boolean"}}})",
       .answers = kNotes,
       .run = apply},
      {.method = "POST",
       .path = "/v1/config/rollback",
       .summary = "Back to the configuration before",
       .answers = kNotes,
       .run = rollback},
  };
}

std::string Admin::openapi(std::string_view version) {
  Json paths = Json::object();
  for (const Route& route : routes()) {
    Json parameters = Json::array();
    if (route.path.find("{id}") != std::string_view::npos)
      parameters.push_back({{"name", "id"}, {"in", "path"}, {"required", true}, {"schema", {{"type", "string"}}}});
    for (const auto& [name, schema] : route.query)
      parameters.push_back(
          {{"name", name}, {"in", "query"}, {"required", name == "model"}, {"schema", Json::parse(schema)}});
    Json good = {{"description", "as asked"}};
    if (!route.answers.empty()) good["content"]["application/json"]["schema"] = Json::parse(route.answers);
    Json operation = {{"summary", route.summary}};
    if (!parameters.empty()) operation["parameters"] = parameters;
    if (!route.body.empty())
      operation["requestBody"]["content"]["application/json"]["schema"] = Json::parse(route.body);
    operation["responses"] = {{"2XX", good}, {"default", {{"$ref", "#/components/responses/Error"}}}};
    operation["security"] = route.for_all ? Json::array({Json::object()}) : Json::array({{{"admin", Json::array()}}});
    std::string method(route.method);
    for (char& c : method) c = static_cast<char>(c | 0x20);
    paths[std::string(route.path)][method] = operation;
  }
  const Json error = Json::parse(
      R"({"description":"why not","content":{"application/json":{"schema":{"type":"object","required":["error"],"properties":{"error":{"type":"object","required":["code","message"],"properties":{"code":{"type":"string"},"message":{"type":"string"}}}}}}}})");
  const Json document = {{"openapi", "3.1.0"},
                         {"info", {{"title", "ACE admin API"}, {"version", version}}},
                         {"paths", paths},
                         {"components",
                          {{"responses", {{"Error", error}}},
                           {"schemas", {{"TrialArm", Json::parse(kTrialArm)}}},
                           {"securitySchemes", {{"admin", {{"type", "http"}, {"scheme", "bearer"}}}}}}}};
  return document.dump(1) + "\n";
}

}  // namespace ace::gateway
