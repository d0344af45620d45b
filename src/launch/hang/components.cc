#include "launch/hang/components.h"

#include <algorithm>
#include <utility>

namespace gex::launch {

namespace {

/// Tarjan's search, without recursion: a chain may be as long as the job is large.
class Search {
 public:
  explicit Search(const Edges& edges) : edges_(edges) {}

  std::vector<std::vector<std::uint32_t>> run() {
    for (const auto& [start, targets] : edges_)
      if (nodes_.count(start) == 0) search_from(start);
    return std::move(components_);
  }

 private:
  struct Node {
    std::uint32_t index;
    std::uint32_t lowest;  ///< index that is reached from here
    bool on_stack;
  };
  struct Frame {
    std::uint32_t vertex;
    std::set<std::uint32_t>::const_iterator next;
  };

  const std::set<std::uint32_t>& targets_of(std::uint32_t vertex) const {
    static const std::set<std::uint32_t> no_targets;
    const auto found = edges_.find(vertex);
    return found != edges_.end() ? found->second : no_targets;
  }

  void search_from(std::uint32_t start) {
    enter(start);
    while (!frames_.empty()) {
      Frame& frame = frames_.back();
      if (frame.next == targets_of(frame.vertex).end()) {
        leave();
        continue;
      }
      const std::uint32_t to = *frame.next++;
      const auto found = nodes_.find(to);
      if (found == nodes_.end())
        enter(to);
      else if (found->second.on_stack)
        nodes_[frame.vertex].lowest = std::min(nodes_[frame.vertex].lowest, found->second.index);
    }
  }

  void enter(std::uint32_t vertex) {
    const auto index = static_cast<std::uint32_t>(nodes_.size());
    nodes_[vertex] = {index, index, true};
    stack_.push_back(vertex);
    frames_.push_back({vertex, targets_of(vertex).begin()});
  }

  void leave() {
    const std::uint32_t vertex = frames_.back().vertex;
    frames_.pop_back();
    const Node& node = nodes_[vertex];
    if (!frames_.empty()) {
      Node& caller = nodes_[frames_.back().vertex];
      caller.lowest = std::min(caller.lowest, node.lowest);
    }
    if (node.lowest != node.index) return;
    std::vector<std::uint32_t> component;
    do {
      component.push_back(stack_.back());
      nodes_[stack_.back()].on_stack = false;
      stack_.pop_back();
    } while (component.back() != vertex);
    if (component.size() == 1 && targets_of(vertex).count(vertex) == 0) return;
    std::sort(component.begin(), component.end());
    components_.push_back(std::move(component));
  }

  const Edges& edges_;
  std::map<std::uint32_t, Node> nodes_;
  std::vector<std::uint32_t> stack_;
  std::vector<Frame> frames_;
  std::vector<std::vector<std::uint32_t>> components_;
};

}  // namespace

std::vector<std::vector<std::uint32_t>> components_of(const Edges& edges) {
  return Search(edges).run();
}

}  // namespace gex::launch
