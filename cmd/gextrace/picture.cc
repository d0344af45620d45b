#include "picture.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace gextrace {

namespace {

constexpr double width = 1000, left = 90, right = 20, top = 50;
constexpr double lane_height = 56, bar_height = 13;
constexpr unsigned max_depth = 4;  ///< bars of a lane, one within another
constexpr std::uint8_t not_kept = max_depth;
constexpr std::size_t max_lanes = 32;
/// Narrower spans are not drawn, so that the file of a long trace stays a picture.
constexpr double min_width = 0.15;

struct Color {
  const char* what;
  const char* fill;
};
constexpr Color colors[] = {{"put", "#4477aa"},        {"get", "#66ccee"},
                            {"atomic", "#ee6677"},     {"message", "#ccbb44"},
                            {"collective", "#aa3377"}, {"synchronize", "#bbbbbb"},
                            {"handler", "#228833"},    {"wait", "#eeeeee"}};
constexpr const char* other_color = "#dddddd";

const char* color_of(const std::string& what) {
  for (const Color& color : colors)
    if (what == color.what) return color.fill;
  return other_color;
}

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '<')
      result += "&lt;";
    else if (c == '&')
      result += "&amp;";
    else
      result += c;
  }
  return result;
}

class Picture : public Output {
 public:
  Picture(std::FILE* file, const Outline& outline, const Filter& filter)
      : file_(file), outline_(outline), filter_(filter) {}

  void survey(const ShownRank& rank) override {
    const std::vector<Span>& spans = rank.recording.spans.spans;
    for (std::size_t s = 0; s < spans.size(); ++s) {
      if (!rank.kept[s]) continue;
      begin_ = std::min(begin_, spans[s].begin);
      end_ = std::max(end_, spans[s].end);
      if (lanes_.size() < max_lanes)
        lanes_.emplace(std::pair(rank.index, spans[s].thread), lanes_.size());
    }
    note_meetings(rank);
  }

  bool draws(std::uint32_t index) const override {
    const auto lane = lanes_.lower_bound({index, 0});
    return lane != lanes_.end() && lane->first.first == index;
  }

  void begin_drawing() override {
    if (begin_ > end_) begin_ = end_ = 0;
    begin_ = std::max(begin_, filter_.from);
    end_ = std::max(begin_ + 1, std::min(end_, filter_.to));
    height_ = top + lane_height * static_cast<double>(lanes_.size()) + 50;
    std::fprintf(file_,
                 "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" "
                 "font-family=\"sans-serif\" font-size=\"11\">\n"
                 "<rect width=\"%.0f\" height=\"%.0f\" fill=\"white\"/>\n",
                 width, height_, width, height_);
    draw_axis();
    for (const auto& [key, lane] : lanes_) draw_lane(key.first, key.second, lane);
  }

  void draw(const ShownRank& rank) override {
    for (std::uint32_t s = 0; s < rank.kept.size(); ++s) {
      if (!rank.kept[s]) continue;
      const auto lane = lanes_.find({rank.index, rank.recording.spans.spans[s].thread});
      if (lane != lanes_.end()) draw_span(rank.recording, s, lane->second);
    }
  }

  void end_drawing() override {
    for (const Arrow& arrow : outline_.messages.arrows) draw_arrow(arrow);
    draw_legend();
    std::fputs("</svg>\n", file_);
  }

 private:
  /// Notes how deep the spans lie in which messages are sent and handled, as far as they are kept.
  void note_meetings(const ShownRank& rank) {
    std::vector<std::uint8_t>& depths = depth_of_meeting_.emplace_back();
    if (!draws(rank.index)) return;
    const RankSpans& spans = rank.recording.spans;
    for (const std::uint32_t span : kept_spans(outline_, rank))
      depths.push_back(span == Span::none
                           ? not_kept
                           : static_cast<std::uint8_t>(depth_of(spans, spans.spans[span])));
  }

  double x(std::int64_t at) const {
    const double share = static_cast<double>(at - begin_) / static_cast<double>(end_ - begin_);
    return left + std::clamp(share, 0.0, 1.0) * (width - left - right);
  }
  static double y(std::size_t lane, unsigned depth) {
    return top + lane_height * static_cast<double>(lane) + bar_height * depth;
  }

  void draw_axis() {
    const auto range = static_cast<double>(end_ - begin_);
    double step = std::pow(10, std::floor(std::log10(range / 4)));
    while (range / step > 8) step *= range / step > 16 ? 5 : 2;
    const bool micro = range < 1e7;
    for (double at = 0; at <= range; at += step) {
      const double place = x(begin_ + static_cast<std::int64_t>(at));
      std::fprintf(
          file_,
          "<line x1=\"%.1f\" y1=\"%.0f\" x2=\"%.1f\" y2=\"%.0f\" stroke=\"#e8e8e8\"/>"
          "<text x=\"%.1f\" y=\"%.0f\" text-anchor=\"middle\" fill=\"#555\">%g %s</text>\n",
          place, top - 8, place, height_ - 44, place, top - 14, at * (micro ? 1e-3 : 1e-6),
          micro ? "\xc2\xb5s" : "ms");
    }
  }

  void draw_lane(std::uint32_t i, std::uint32_t thread, std::size_t lane) {
    const RankTrace& trace = outline_.job.ranks[i];
    std::string name = "rank " + std::to_string(trace.rank);
    if (thread > 1) name += "." + std::to_string(thread);
    std::fprintf(file_, "<text x=\"8\" y=\"%.1f\" fill=\"#222\">%s</text>\n", y(lane, 1),
                 name.c_str());
    std::fprintf(file_,
                 "<line x1=\"%.0f\" y1=\"%.1f\" x2=\"%.0f\" y2=\"%.1f\" stroke=\"#cccccc\"/>\n",
                 left, y(lane, max_depth), width - right, y(lane, max_depth));
  }

  static unsigned depth_of(const RankSpans& spans, const Span& span) {
    unsigned depth = 0;
    for (std::uint32_t p = span.parent; p != Span::none; p = spans.spans[p].parent) ++depth;
    return std::min(depth, max_depth - 1);
  }

  void draw_span(const RankRecording& rank, std::uint32_t index, std::size_t lane) {
    const RankTrace& trace = rank.trace;
    const Span& span = rank.spans.spans[index];
    const double from = x(span.begin);
    const double length = x(span.end) - from;
    if (length < min_width || span.kind == SpanKind::questions) return;
    const unsigned depth = depth_of(rank.spans, span);
    const std::string name = escaped(name_of(trace, span));
    std::string what = span.kind == SpanKind::handler ? "handler"
                       : span.kind == SpanKind::wait  ? "wait"
                       : span.kind == SpanKind::annotation
                           ? "interval"
                           : trace.name_of(Names::classes, span.what);
    std::fprintf(file_,
                 "<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\" fill=\"%s\" "
                 "stroke=\"#777\" stroke-width=\"0.3\"><title>%s, %.3f \xc2\xb5s</title></rect>",
                 from, y(lane, depth), std::max(length, 0.3), bar_height - 1, color_of(what),
                 name.c_str(), static_cast<double>(span.end - span.begin) * 1e-3);
    constexpr double letter = 5.6;
    if (length > letter * static_cast<double>(name.size()) + 4)
      std::fprintf(file_, "<text x=\"%.2f\" y=\"%.1f\" fill=\"#111\" font-size=\"10\">%s</text>",
                   from + 2, y(lane, depth) + bar_height - 3.5, name.c_str());
    std::fputs("\n", file_);
  }

  /// Where an arrow ends in the picture; false if that is not in it.
  bool place_of(const Place& place, double& at_x, double& at_y) const {
    const Event& event = outline_.job.ranks[place.rank].events[place.event];
    const std::vector<std::uint8_t>& depths = depth_of_meeting_[place.rank];
    if (depths.empty() || depths[place.event] == not_kept || !filter_.overlaps(event.at, event.at))
      return false;
    const auto lane = lanes_.find({place.rank, event.thread});
    if (lane == lanes_.end()) return false;
    at_x = x(event.at);
    at_y = y(lane->second, depths[place.event]) + bar_height / 2;
    return true;
  }

  void draw_arrow(const Arrow& arrow) {
    double from_x, from_y, to_x, to_y;
    if (arrow.from.rank == arrow.to.rank) return;
    if (!place_of(arrow.from, from_x, from_y) || !place_of(arrow.to, to_x, to_y)) return;
    std::fprintf(
        file_,
        "<line x1=\"%.2f\" y1=\"%.1f\" x2=\"%.2f\" y2=\"%.1f\" stroke=\"#222\" "
        "stroke-width=\"0.7\"/><circle cx=\"%.2f\" cy=\"%.1f\" r=\"1.6\" fill=\"#222\"/>\n",
        from_x, from_y, to_x, to_y, to_x, to_y);
  }

  void draw_legend() {
    double at = left;
    for (const Color& color : colors) {
      std::fprintf(
          file_,
          "<rect x=\"%.0f\" y=\"%.0f\" width=\"12\" height=\"12\" fill=\"%s\" stroke=\"#777\" "
          "stroke-width=\"0.3\"/><text x=\"%.0f\" y=\"%.0f\" fill=\"#222\">%s</text>\n",
          at, height_ - 28, color.fill, at + 16, height_ - 18, color.what);
      at += 100;
    }
  }

  std::FILE* file_;
  const Outline& outline_;
  const Filter& filter_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> lanes_;  ///< by rank and thread
  /// By rank, if it has lanes, and event of the outline.
  std::vector<std::vector<std::uint8_t>> depth_of_meeting_;
  std::int64_t begin_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t end_ = std::numeric_limits<std::int64_t>::min();
  double height_ = 0;
};

}  // namespace

std::unique_ptr<Output> make_picture(std::FILE* file, const Outline& outline,
                                     const Filter& filter) {
  return std::make_unique<Picture>(file, outline, filter);
}

}  // namespace gextrace
