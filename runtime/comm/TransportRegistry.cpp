//===- TransportRegistry.cpp - transports by name -------------------------===//

#include "comm/TransportRegistry.h"

using namespace braid;

static std::vector<std::pair<std::string, TransportMaker>> &registered() {
  static std::vector<std::pair<std::string, TransportMaker>> all;
  return all;
}

void braid::registerTransport(std::string name, TransportMaker maker) {
  if (!findTransport(name))
    registered().emplace_back(std::move(name), maker);
}

TransportMaker braid::findTransport(std::string_view name) {
  for (const auto &[known, maker] : registered())
    if (known == name)
      return maker;
  return nullptr;
}

std::string braid::registeredTransports() {
  std::string names;
  for (const auto &[name, maker] : registered())
    names += (names.empty() ? "" : ", ") + name;
  return names;
}
