//===- MinCut.cpp - minimum cut of a graph --------------------------------===//

#include "passes/Recompute/MinCut.h"
#include <algorithm>
#include <limits>

using namespace braid;

static constexpr unsigned kNone = std::numeric_limits<unsigned>::max();

void MinCut::addEdge(unsigned from, unsigned to, int64_t capacity) {
  edgesOf[from].push_back(edges.size());
  edges.push_back({to, capacity});
  edgesOf[to].push_back(edges.size());
  edges.push_back({from, 0});
}

/// Numbers nodes by their distance from the source along edges with residual capacity.
bool MinCut::findLevels(unsigned source, unsigned sink) {
  level.assign(edgesOf.size(), kNone);
  std::vector<unsigned> queue{source};
  level[source] = 0;
  for (size_t at = 0; at < queue.size(); ++at)
    for (unsigned edge : edgesOf[queue[at]])
      if (edges[edge].left > 0 && level[edges[edge].to] == kNone) {
        level[edges[edge].to] = level[queue[at]] + 1;
        queue.push_back(edges[edge].to);
      }
  return level[sink] != kNone;
}

/// Sends as much as fits along one path of increasing levels; returns 0 if there is none.
int64_t MinCut::push(unsigned source, unsigned sink) {
  std::vector<unsigned> path;
  for (unsigned node = source; node != sink;) {
    bool goesOn = false;
    for (unsigned &position = next[node]; position < edgesOf[node].size(); ++position) {
      const Edge &edge = edges[edgesOf[node][position]];
      goesOn = edge.left > 0 && level[edge.to] == level[node] + 1;
      if (goesOn)
        break;
    }
    if (goesOn) {
      path.push_back(edgesOf[node][next[node]]);
      node = edges[path.back()].to;
    } else if (path.empty()) {
      return 0;
    } else { // dead end: go back, and try the next edge
      node = edges[path.back() ^ 1].to;
      ++next[node];
      path.pop_back();
    }
  }
  int64_t amount = kUnbounded;
  for (unsigned edge : path)
    amount = std::min(amount, edges[edge].left);
  for (unsigned edge : path) {
    edges[edge].left -= amount;
    edges[edge ^ 1].left += amount;
  }
  return amount;
}

/// Finds the nodes that reach the sink along edges with residual capacity.
void MinCut::findSinkSide(unsigned sink) {
  onSinkSide.assign(edgesOf.size(), false);
  std::vector<unsigned> queue{sink};
  onSinkSide[sink] = true;
  for (size_t at = 0; at < queue.size(); ++at)
    for (unsigned edge : edgesOf[queue[at]])
      if (unsigned from = edges[edge].to; edges[edge ^ 1].left > 0 && !onSinkSide[from]) {
        onSinkSide[from] = true;
        queue.push_back(from);
      }
}

void MinCut::solve(unsigned source, unsigned sink) {
  while (findLevels(source, sink)) {
    next.assign(edgesOf.size(), 0);
    while (push(source, sink) != 0) {
    }
  }
  findSinkSide(sink);
}
