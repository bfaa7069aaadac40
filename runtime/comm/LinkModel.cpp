//===- LinkModel.cpp - emulate the time of a real link --------------------===//

#include "comm/LinkModel.h"

#include <charconv>

using namespace braid;

bool braid::parseLink(const std::string &text, LinkModel &link) {
  double latency = 0, rate = 0;
  const char *end = text.data() + text.size();
  auto first = std::from_chars(text.data(), end, latency);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != ',')
    return false;
  auto second = std::from_chars(first.ptr + 1, end, rate);
  // The comparisons also reject NaN.
  if (second.ec != std::errc() || second.ptr != end || !(latency >= 0 && latency < 1e9) || !(rate > 0 && rate < 1e9))
    return false;
  link = {latency * 1e-6, rate * 1e9};
  return true;
}
