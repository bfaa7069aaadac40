//===- MinCut.h - minimum cut of a graph ------------------------*- C++ -*-===//
#ifndef BRAID_PASSES_RECOMPUTE_MINCUT_H
#define BRAID_PASSES_RECOMPUTE_MINCUT_H

#include <cstdint>
#include <vector>

namespace braid {

/// A directed graph with capacities, and a cut of it between a source and a sink.
class MinCut {
public:
  /// More than all finite capacities together, for edges that no cut may contain.
  static constexpr int64_t kUnbounded = int64_t(1) << 60;

  unsigned addNode() {
    edgesOf.emplace_back();
    return edgesOf.size() - 1;
  }
  void addEdge(unsigned from, unsigned to, int64_t capacity);

  /// Finds the minimum cut with the fewest nodes on the sink's side. Augments along all shortest paths, for each
  /// length in turn (Dinic). Takes O(nodes² edges) time; in practice it is near linear here, because paths stay within
  /// a unit.
  void solve(unsigned source, unsigned sink);
  bool isOnSinkSide(unsigned node) const { return onSinkSide[node]; }

private:
  struct Edge {
    unsigned to;
    int64_t left;
  };
  bool findLevels(unsigned source, unsigned sink);
  int64_t push(unsigned source, unsigned sink);
  void findSinkSide(unsigned sink);

  /// An edge and its reverse are neighbours: 2i and 2i + 1.
  std::vector<Edge> edges;
  std::vector<std::vector<unsigned>> edgesOf;
  std::vector<unsigned> level, next;
  std::vector<bool> onSinkSide;
};

} // namespace braid

#endif // BRAID_PASSES_RECOMPUTE_MINCUT_H
