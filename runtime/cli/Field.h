//===- Field.h - the field that an option's value fills -------------------===//
//
// into<&TrainOptions::steps> describes how a text becomes the value of a field of that type. The field's
// initial value is the option's default. A flag, an enum and a bool take the index of the word. A
// user-defined type takes a text through a function readOption(T &, std::string_view) in its namespace.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CLI_FIELD_H
#define BRAID_CLI_FIELD_H

#include "cli/Value.h"

#include <charconv>
#include <concepts>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace braid::cli {

// Returns the default as text; empty if there is none.
using Initial = std::string (*)(const Value &);

// Returns a different text for each struct. (An address would not work: under -fsanitize=undefined, GCC
// cannot compare addresses in constant expressions; GCC bug 71962.)
template <class T> consteval std::string_view structName() { return __PRETTY_FUNCTION__; }

struct Field {
  std::string_view of; // the struct; empty if there is none
  void (*store)(void *object, const Value &value, std::string_view text) = nullptr;
  Initial initial = nullptr;
  // Range of an integer field.
  int64_t min = std::numeric_limits<int64_t>::min();
  uint64_t max = std::numeric_limits<uint64_t>::max();
};

namespace detail {

template <class Struct, class T> Struct structOf(T Struct::*);

template <class T> struct Held {
  using Type = T;
};
template <class T> struct Held<std::optional<T>> {
  using Type = T;
};

template <class T>
concept ReadsItself = requires(T &field) { readOption(field, std::string_view()); };

template <class T> void assign(T &field, const Value &value, std::string_view text) {
  if constexpr (ReadsItself<T>)
    readOption(field, text);
  else if constexpr (std::is_same_v<T, bool> || std::is_enum_v<T>)
    field = static_cast<T>(value.indexOf(text));
  else if constexpr (std::is_arithmetic_v<T>)
    std::from_chars(text.data(), text.data() + text.size(), field);
  else if constexpr (requires { assign(field.value, value, text); }) // a number with a range
    assign(field.value, value, text);
  else
    field = T(text);
}
template <class T> void assign(std::optional<T> &field, const Value &value, std::string_view text) {
  assign(field.emplace(), value, text);
}
// Appends to the values that were given before.
template <class T> void assign(std::vector<T> &field, const Value &value, std::string_view text) {
  assign(field.emplace_back(), value, text);
}

template <class T> std::string show(const T &field, const Value &value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value.kind == Kind::Flag ? std::string() : std::string(value.words[field].text);
  } else if constexpr (std::is_enum_v<T>) {
    return std::string(value.words[static_cast<size_t>(field)].text);
  } else if constexpr (std::is_arithmetic_v<T>) {
    char text[32];
    return std::string(text, std::to_chars(text, text + sizeof text, field).ptr);
  } else if constexpr (std::is_convertible_v<const T &, std::string>) {
    return field;
  } else if constexpr (std::is_convertible_v<const T &, double>) { // a number with a range
    return show(field.value, value);
  } else {
    return {}; // an optional or a list: empty by default
  }
}

} // namespace detail

// Returns a nested member: memberOf<&A::b, &B::c>(a) is a.b.c.
template <class T> constexpr T &memberOf(T &object) { return object; }
template <auto First, auto... Rest, class T> constexpr auto &memberOf(T &object) {
  return memberOf<Rest...>(object.*First);
}

template <auto First, auto... Rest> std::string initially(const Value &value) {
  const decltype(detail::structOf(First)) object{};
  return detail::show(memberOf<First, Rest...>(object), value);
}

template <auto First, auto... Rest> consteval Field into() {
  using Struct = decltype(detail::structOf(First));
  using Member = std::remove_cvref_t<decltype(memberOf<First, Rest...>(std::declval<Struct &>()))>;
  using T = typename detail::Held<Member>::Type;
  Field field;
  field.of = structName<Struct>();
  field.store = [](void *object, const Value &value, std::string_view text) {
    detail::assign(memberOf<First, Rest...>(*static_cast<Struct *>(object)), value, text);
  };
  field.initial = initially<First, Rest...>;
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    field.min = std::numeric_limits<T>::min();
    field.max = std::numeric_limits<T>::max();
  }
  return field;
}

} // namespace braid::cli
#endif // BRAID_CLI_FIELD_H
