#include "picture.h"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <map>
#include <utility>

namespace gextrace {

namespace {

constexpr double width = 1000, left = 90, right = 20, top = 50;
constexpr double lane_height = 56, bar_height = 13;
constexpr unsigned max_depth = 4;  ///< bars of a lane, one within another
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

class Drawing {
 public:
  Drawing(const Job& job, const std::vector<RankSpans>& spans, const Filter& filter)
      : job_(job), spans_(spans), filter_(filter) {
    bool any = false;
    for (std::uint32_t i = 0; i < job.ranks.size(); ++i) {
      kept_.push_back(kept(filter, job.ranks[i], spans[i]));
      for (std::size_t s = 0; s < kept_[i].size(); ++s) {
        if (!kept_[i][s]) continue;
        const Span& span = spans[i].spans[s];
        begin_ = any ? std::min(begin_, span.begin) : span.begin;
        end_ = any ? std::max(end_, span.end) : span.end;
        any = true;
        if (lanes_.size() < max_lanes) lanes_.emplace(std::pair(i, span.thread), lanes_.size());
      }
    }
    begin_ = std::max(begin_, filter.from);
    end_ = std::max(begin_ + 1, std::min(end_, filter.to));
  }

  std::string draw(const Messages& messages) {
    const double height = top + lane_height * static_cast<double>(lanes_.size()) + 50;
    add("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" "
        "font-family=\"sans-serif\" font-size=\"11\">\n"
        "<rect width=\"%.0f\" height=\"%.0f\" fill=\"white\"/>\n",
        width, height, width, height);
    draw_axis(height);
    for (const auto& [key, lane] : lanes_) draw_lane(key.first, key.second, lane);
    for (const auto& [key, lane] : lanes_)
      for (std::uint32_t s = 0; s < kept_[key.first].size(); ++s)
        if (kept_[key.first][s] && spans_[key.first].spans[s].thread == key.second)
          draw_span(key.first, s, lane);
    for (const Arrow& arrow : messages.arrows) draw_arrow(arrow);
    draw_legend(height);
    text_ += "</svg>\n";
    return std::move(text_);
  }

 private:
  [[gnu::format(printf, 2, 3)]] void add(const char* format, ...) {
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    text_ += line;
  }

  double x(std::int64_t at) const {
    const double share = static_cast<double>(at - begin_) / static_cast<double>(end_ - begin_);
    return left + std::clamp(share, 0.0, 1.0) * (width - left - right);
  }
  static double y(std::size_t lane, unsigned depth) {
    return top + lane_height * static_cast<double>(lane) + bar_height * depth;
  }

  void draw_axis(double height) {
    const auto range = static_cast<double>(end_ - begin_);
    double step = std::pow(10, std::floor(std::log10(range / 4)));
    while (range / step > 8) step *= range / step > 16 ? 5 : 2;
    const bool micro = range < 1e7;
    for (double at = 0; at <= range; at += step) {
      const double place = x(begin_ + static_cast<std::int64_t>(at));
      add("<line x1=\"%.1f\" y1=\"%.0f\" x2=\"%.1f\" y2=\"%.0f\" stroke=\"#e8e8e8\"/>"
          "<text x=\"%.1f\" y=\"%.0f\" text-anchor=\"middle\" fill=\"#555\">%g %s</text>\n",
          place, top - 8, place, height - 44, place, top - 14, at * (micro ? 1e-3 : 1e-6),
          micro ? "\xc2\xb5s" : "ms");
    }
  }

  void draw_lane(std::uint32_t i, std::uint32_t thread, std::size_t lane) {
    const RankTrace& trace = job_.ranks[i];
    std::string name = "rank " + std::to_string(trace.rank);
    if (thread > 1) name += "." + std::to_string(thread);
    add("<text x=\"8\" y=\"%.1f\" fill=\"#222\">%s</text>\n", y(lane, 1), name.c_str());
    add("<line x1=\"%.0f\" y1=\"%.1f\" x2=\"%.0f\" y2=\"%.1f\" stroke=\"#cccccc\"/>\n", left,
        y(lane, max_depth), width - right, y(lane, max_depth));
  }

  unsigned depth_of(const RankSpans& spans, const Span& span) const {
    unsigned depth = 0;
    for (std::uint32_t p = span.parent; p != Span::none; p = spans.spans[p].parent) ++depth;
    return std::min(depth, max_depth - 1);
  }

  void draw_span(std::uint32_t i, std::uint32_t index, std::size_t lane) {
    const RankTrace& trace = job_.ranks[i];
    const Span& span = spans_[i].spans[index];
    const double from = x(span.begin);
    const double length = x(span.end) - from;
    if (length < min_width || span.kind == SpanKind::questions) return;
    const unsigned depth = depth_of(spans_[i], span);
    const std::string name = escaped(name_of(trace, span));
    std::string what = span.kind == SpanKind::handler ? "handler"
                       : span.kind == SpanKind::wait  ? "wait"
                       : span.kind == SpanKind::annotation
                           ? "interval"
                           : trace.name_of(Names::classes, span.what);
    add("<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\" fill=\"%s\" "
        "stroke=\"#777\" stroke-width=\"0.3\"><title>%s, %.3f \xc2\xb5s</title></rect>",
        from, y(lane, depth), std::max(length, 0.3), bar_height - 1, color_of(what), name.c_str(),
        static_cast<double>(span.end - span.begin) * 1e-3);
    constexpr double letter = 5.6;
    if (length > letter * static_cast<double>(name.size()) + 4)
      add("<text x=\"%.2f\" y=\"%.1f\" fill=\"#111\" font-size=\"10\">%s</text>", from + 2,
          y(lane, depth) + bar_height - 3.5, name.c_str());
    text_ += "\n";
  }

  /// Where an arrow ends in the picture; false if that is not in it.
  bool place_of(const Place& place, double& at_x, double& at_y) const {
    const Event& event = job_.ranks[place.rank].events[place.event];
    const std::uint32_t index = spans_[place.rank].span_of_event[place.event];
    if (index == Span::none || !kept_[place.rank][index] || !filter_.overlaps(event.at, event.at))
      return false;
    const auto lane = lanes_.find({place.rank, event.thread});
    if (lane == lanes_.end()) return false;
    const Span& span = spans_[place.rank].spans[index];
    at_x = x(event.at);
    at_y = y(lane->second, depth_of(spans_[place.rank], span)) + bar_height / 2;
    return true;
  }

  void draw_arrow(const Arrow& arrow) {
    double from_x, from_y, to_x, to_y;
    if (arrow.from.rank == arrow.to.rank) return;
    if (!place_of(arrow.from, from_x, from_y) || !place_of(arrow.to, to_x, to_y)) return;
    add("<line x1=\"%.2f\" y1=\"%.1f\" x2=\"%.2f\" y2=\"%.1f\" stroke=\"#222\" "
        "stroke-width=\"0.7\"/><circle cx=\"%.2f\" cy=\"%.1f\" r=\"1.6\" fill=\"#222\"/>\n",
        from_x, from_y, to_x, to_y, to_x, to_y);
  }

  void draw_legend(double height) {
    double at = left;
    for (const Color& color : colors) {
      add("<rect x=\"%.0f\" y=\"%.0f\" width=\"12\" height=\"12\" fill=\"%s\" stroke=\"#777\" "
          "stroke-width=\"0.3\"/><text x=\"%.0f\" y=\"%.0f\" fill=\"#222\">%s</text>\n",
          at, height - 28, color.fill, at + 16, height - 18, color.what);
      at += 100;
    }
  }

  const Job& job_;
  const std::vector<RankSpans>& spans_;
  const Filter& filter_;
  std::vector<std::vector<bool>> kept_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> lanes_;
  std::int64_t begin_ = 0, end_ = 1;
  std::string text_;
};

}  // namespace

std::string draw(const Job& job, const std::vector<RankSpans>& spans, const Messages& messages,
                 const Filter& filter) {
  return Drawing(job, spans, filter).draw(messages);
}

}  // namespace gextrace
