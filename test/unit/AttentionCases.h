//===- AttentionCases.h - attention at the edges of tiles, and in f64 -----===//
//
// Cases of attention by tiles, and the results of its definition in f64, with the sums of absolute values by which
// rounding is measured. Scores have a standard deviation of 3, so that weights are far from equal.
//
// A tensor has gaps between its positions and behind its end. Gaps of inputs are NaN, and gaps of outputs must not
// change.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_TEST_ATTENTIONCASES_H
#define BRAID_TEST_ATTENTIONCASES_H

#include "braid_rt.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <random>
#include <set>
#include <sstream>
#include <vector>

namespace braid::test {

// f32, or the bf16 type of the CPU or of CUDA.
template <class T> float numberOf(T x) {
  if constexpr (sizeof(T) == 4)
    return x;
  else
    return std::bit_cast<float>(static_cast<uint32_t>(std::bit_cast<uint16_t>(x)) << 16);
}
template <class T> T elementOf(float x) {
  if constexpr (sizeof(T) == 4)
    return x;
  else {
    const uint32_t bits = std::bit_cast<uint32_t>(x);
    return std::bit_cast<T>(static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16));
  }
}

//===----------------------------------------------------------------------===//
// Cases
//===----------------------------------------------------------------------===//

constexpr int64_t kNotCausal = -1;

struct AttentionCase {
  int64_t queries, keys;
  int64_t first;     // position of the first query, counted from the first key
  int64_t window;    // in keys; 0: all before, kNotCausal: all
  int64_t documents; // positions of each; 0: none
  bool atRunTime;    // whether the positions of the first query and key are operands
  double softcap = 0;

  bool counts(int64_t s, int64_t t) const {
    const int64_t back = first + s - t;
    const bool inBand = window == kNotCausal || (back >= 0 && (window == 0 || back < window));
    return inBand && (documents == 0 || documentOf(first + s) == documentOf(t));
  }
  // The first document of a row begins before the row. Position 0 is the first key's.
  int32_t documentOf(int64_t position) const {
    return static_cast<int32_t>((position + before() + documents / 2) / documents);
  }
  // Number of the row's positions before the first key.
  int64_t before() const { return atRunTime ? std::max<int64_t>(-first, 0) + 3 : 0; }
  int64_t positions() const { return before() + std::max(first + queries, keys) + 2; }
};

inline std::ostream &operator<<(std::ostream &out, const AttentionCase &c) {
  return out << c.queries << " queries from " << c.first << (c.atRunTime ? " at run time, " : ", ") << c.keys
             << " keys, window " << c.window << ", documents of " << c.documents << ", soft cap " << c.softcap;
}

// The lists whose products are the cases for tiles of this many positions.
struct AttentionChoices {
  std::vector<int64_t> queries, offsets, windows, documents, keysBehind;

  explicit AttentionChoices(int64_t tile)
      : offsets{0, 1, 2, 3, 4, 5, 6, 7, 10, 13, tile - 1, tile, tile + 2, -1, -2, -3, -6, -tile - 1},
        windows{0, 1, 2, 3, 4, 6, 9, tile - 1, tile + 3, kNotCausal}, documents{0, 1, 3, 7, 18, tile + 5},
        keysBehind{0, 1, 2, 3, 5, 14, -1, -2, -3, -5, -14} {
    // Every remainder of blocks and vectors: at the start of a tile, at its end, and behind it.
    std::set<int64_t> sizes;
    for (int64_t whole : {int64_t{0}, tile - 16, tile})
      for (int64_t rest = 1; rest <= 16; ++rest)
        sizes.insert(whole + rest);
    queries.assign(sizes.begin(), sizes.end());
  }

  // Fewer cases, for tiles in which every pair is computed, so that only the ends of slices and tiles are edges.
  static AttentionChoices ofEnds(int64_t tile, int64_t slice) {
    AttentionChoices choices(tile);
    choices.queries = {1, slice + 1, tile - 1, tile + 1};
    choices.offsets = {0, 1, tile - 1, tile + 2, -1, -tile - 1};
    choices.windows = {0, 1, 3, tile - 1, kNotCausal};
    choices.documents = {0, 1, 7, tile + 5};
    choices.keysBehind = {0, 5, -1, -slice};
    return choices;
  }
  // These ends and their neighbours.
  static AttentionChoices aroundEnds(int64_t tile, int64_t slice) {
    AttentionChoices choices = ofEnds(tile, slice);
    choices.queries.insert(choices.queries.end(), {3, slice, tile, tile + 6});
    choices.offsets.insert(choices.offsets.end(), {5, tile, -6});
    choices.windows.push_back(tile + 3);
    choices.keysBehind.insert(choices.keysBehind.end(), {1, -5});
    return choices;
  }

  static AttentionCase make(int64_t queries, int64_t first, int64_t window, int64_t documents, int64_t behind,
                            bool atRunTime) {
    return {queries,   std::max<int64_t>(first + queries + behind, 1),
            first,     window,
            documents, atRunTime || first < 0}; // graphs have no constant offset that is negative
  }

  // Runs f(case) for every size of queries, offset, window and size of documents. The other choices are random.
  void each(const std::function<void(const AttentionCase &)> &f) const {
    std::mt19937 engine(1);
    for (int64_t n : queries)
      for (int64_t first : offsets)
        for (int64_t window : windows)
          for (int64_t size : documents)
            f(make(n, first, window, size, drawn(keysBehind, engine), engine() % 2));
  }

  // Runs f(case) for cases in which each two choices occur together at least once. Sizes of queries and offsets, which
  // have the most pairs, are enumerated. For the other choices, the random draw with the most new pairs is used.
  void eachPair(const std::function<void(const AttentionCase &)> &f) const {
    const std::vector<int64_t> sizes = {count(queries),   count(offsets),    count(windows),
                                        count(documents), count(keysBehind), 2};
    std::set<std::vector<int64_t>> missing;
    for (int64_t i = 0; i < count(sizes); ++i)
      for (int64_t j = 0; j < i; ++j)
        for (int64_t a = 0; a < sizes[i]; ++a)
          for (int64_t b = 0; b < sizes[j]; ++b)
            missing.insert({i, j, a, b});
    std::mt19937 engine(2);
    for (int64_t turn = 0; !missing.empty(); ++turn) {
      std::vector<int64_t> best;
      std::vector<std::vector<int64_t>> found;
      for (int draw = 0; draw < 8; ++draw) {
        std::vector<int64_t> at = {turn % sizes[0], turn / sizes[0] % sizes[1]};
        while (at.size() < sizes.size())
          at.push_back(engine() % sizes[at.size()]);
        std::vector<std::vector<int64_t>> fresh;
        for (int64_t i = 0; i < count(sizes); ++i)
          for (int64_t j = 0; j < i; ++j)
            if (std::vector<int64_t> pair = {i, j, at[i], at[j]}; missing.count(pair))
              fresh.push_back(pair);
        if (fresh.size() > found.size())
          best = at, found = fresh;
      }
      for (const std::vector<int64_t> &pair : found)
        missing.erase(pair);
      if (!found.empty())
        f(make(queries[best[0]], offsets[best[1]], windows[best[2]], documents[best[3]], keysBehind[best[4]], best[5]));
    }
  }

private:
  static int64_t count(const std::vector<int64_t> &list) { return static_cast<int64_t>(list.size()); }
  static int64_t drawn(const std::vector<int64_t> &list, std::mt19937 &engine) { return list[engine() % list.size()]; }
};

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

// [batch, positions, heads, size]
template <class T> struct AttentionTensor {
  int64_t batch, positions, heads, size, strides[3];
  std::vector<T> at;

  AttentionTensor(int64_t batch, int64_t positions, int64_t heads, int64_t size)
      : batch(batch), positions(positions), heads(heads), size(size),
        strides{positions * (heads * size + 5) + 7, heads * size + 5, size},
        at(batch * strides[0] + 64, elementOf<T>(NAN)) {}

  int64_t index(int64_t b, int64_t position, int64_t head, int64_t e) const {
    return b * strides[0] + position * strides[1] + head * strides[2] + e;
  }
  double get(int64_t b, int64_t position, int64_t head, int64_t e) const {
    return numberOf(at[index(b, position, head, e)]);
  }
  template <class F> void each(const F &f) const {
    for (int64_t b = 0; b < batch; ++b)
      for (int64_t position = 0; position < positions; ++position)
        for (int64_t head = 0; head < heads; ++head)
          for (int64_t e = 0; e < size; ++e)
            f(index(b, position, head, e));
  }
  void draw(std::mt19937 &engine, double deviation) {
    std::normal_distribution<float> normal(0.0f, static_cast<float>(deviation));
    each([&](int64_t i) { at[i] = elementOf<T>(normal(engine)); });
  }
};

// Two rows with one head each, or one row whose two heads share their keys.
template <class T> struct AttentionProblem {
  static constexpr int64_t keyHeads = 1;
  AttentionCase testCase;
  int64_t batch, heads;
  br_attention_desc desc{};
  AttentionTensor<T> q, k, v, dout, o, dq, dk, dv;
  std::vector<float> lse;
  std::vector<int32_t> documents;
  int32_t queryStart, keyStart;

  AttentionProblem(const AttentionCase &testCase, int64_t size)
      : testCase(testCase), batch(testCase.atRunTime ? 2 : 1), heads(testCase.atRunTime ? 1 : 2),
        q(batch, testCase.queries, heads, size), k(batch, testCase.keys, keyHeads, size), v(k), dout(q), o(q), dq(q),
        dk(k), dv(k), lse(batch * heads * testCase.queries + 64, NAN),
        keyStart(static_cast<int32_t>(testCase.before())) {
    desc.batch = batch, desc.heads = heads, desc.key_heads = keyHeads;
    desc.queries = testCase.queries, desc.keys = testCase.keys, desc.size = size;
    const std::pair<int64_t(&)[3], const AttentionTensor<T> &> all[] = {{desc.q, q},   {desc.k, k},       {desc.v, v},
                                                                        {desc.o, o},   {desc.dout, dout}, {desc.dq, dq},
                                                                        {desc.dk, dk}, {desc.dv, dv}};
    for (auto &[strides, tensor] : all)
      std::copy(tensor.strides, tensor.strides + 3, strides);
    desc.gradient = 1, desc.type = sizeof(T) == 4 ? BR_F32 : BR_BF16;
    desc.scale = 0.7, desc.softcap = testCase.softcap, desc.causal = testCase.window != kNotCausal;
    desc.window = std::max<int64_t>(testCase.window, 0);
    // At run time the position in the descriptor is added to the first query's position.
    desc.first = testCase.atRunTime ? 2 : testCase.first,
    desc.positions = testCase.documents ? testCase.positions() : 0;
    queryStart = static_cast<int32_t>(testCase.first + keyStart - desc.first);
    std::mt19937 engine(
        static_cast<unsigned>(testCase.queries * 131 + testCase.keys * 31 + testCase.first * 7 + testCase.window));
    const double deviation = std::sqrt(3 / (desc.scale * std::sqrt(static_cast<double>(size))));
    q.draw(engine, deviation), k.draw(engine, deviation), v.draw(engine, 1), dout.draw(engine, 1);
    for (int64_t i = 0; testCase.documents && i < batch * testCase.positions(); ++i)
      documents.push_back(testCase.documentOf(i % testCase.positions() - testCase.before()));
  }

  void check(double tolerance) const;
};

//===----------------------------------------------------------------------===//
// The definition
//===----------------------------------------------------------------------===//

// A sum and the sum of its terms' absolute values.
struct BoundedSum {
  double value = 0, size = 0;
  void add(double x, double bound) { value += x, size += bound; }
};

// Results of the definition for each element of the tensors, by index.
template <class T> class AttentionReference {
public:
  std::vector<BoundedSum> o, dq, dk, dv;
  std::vector<double> lse;

  explicit AttentionReference(const AttentionProblem<T> &p)
      : o(p.o.at.size()), dq(p.dq.at.size()), dk(p.dk.at.size()), dv(p.dv.at.size()),
        lse(p.batch * p.heads * p.testCase.queries), p(p) {
    for (int64_t b = 0; b < p.batch; ++b)
      for (int64_t head = 0; head < p.heads; ++head)
        for (int64_t s = 0; s < p.testCase.queries; ++s)
          addQuery(b, head, s);
  }

private:
  const AttentionProblem<T> &p;

  BoundedSum product(const AttentionTensor<T> &x, const AttentionTensor<T> &y, int64_t b, int64_t head, int64_t s,
                     int64_t t) const {
    BoundedSum sum;
    for (int64_t e = 0; e < p.desc.size; ++e) {
      const double term = x.get(b, s, head, e) * y.get(b, t, head / (p.heads / p.keyHeads), e);
      sum.add(term, std::fabs(term));
    }
    return sum;
  }

  void addQuery(int64_t b, int64_t head, int64_t s) {
    const int64_t keyHead = head / (p.heads / p.keyHeads);
    std::vector<int64_t> keys;
    std::vector<double> weights, slopes;
    double largest = -INFINITY, total = 0, mean = 0, meanSize = 0;
    for (int64_t t = 0; t < p.testCase.keys; ++t)
      if (p.testCase.counts(s, t)) {
        double score = p.desc.scale * product(p.q, p.k, b, head, s, t).value, slope = 1;
        if (const double cap = p.desc.softcap) {
          const double bent = std::tanh(score / cap);
          score = cap * bent, slope = 1 - bent * bent;
        }
        keys.push_back(t), weights.push_back(score), slopes.push_back(slope);
        largest = std::max(largest, score);
      }
    for (double &weight : weights)
      total += weight = std::exp(weight - largest);
    lse[(b * p.heads + head) * p.testCase.queries + s] = largest + std::log(total);
    std::vector<BoundedSum> gradients;
    for (size_t i = 0; i < keys.size(); ++i) {
      gradients.push_back(product(p.dout, p.v, b, head, s, keys[i]));
      mean += (weights[i] /= total) * gradients[i].value, meanSize += weights[i] * gradients[i].size;
    }
    for (size_t i = 0; i < keys.size(); ++i) {
      const double by = p.desc.scale * slopes[i] * weights[i];
      const double gradient = by * (gradients[i].value - mean);
      // A slope is 1 minus a square, so rounding matters where the difference is small.
      const double size = (by + 0.03 * p.desc.scale * weights[i]) * (gradients[i].size + meanSize);
      for (int64_t e = 0; e < p.desc.size; ++e) {
        auto add = [](BoundedSum &sum, double factor, double factorSize, double x) {
          sum.add(factor * x, factorSize * std::fabs(x));
        };
        const int64_t query = p.q.index(b, s, head, e), key = p.k.index(b, keys[i], keyHead, e);
        add(o[query], weights[i], weights[i], numberOf(p.v.at[key]));
        add(dq[query], gradient, size, numberOf(p.k.at[key]));
        add(dk[key], gradient, size, numberOf(p.q.at[query]));
        add(dv[key], weights[i], weights[i], numberOf(p.dout.at[query]));
      }
    }
  }
};

// Checks that each element is right within `tolerance` times the absolute values of its sum, and that gaps have not
// changed.
template <class T> void AttentionProblem<T>::check(double tolerance) const {
  const AttentionReference<T> wanted(*this);
  const std::tuple<const char *, const AttentionTensor<T> &, const std::vector<BoundedSum> &> all[] = {
      {"o", o, wanted.o}, {"dq", dq, wanted.dq}, {"dk", dk, wanted.dk}, {"dv", dv, wanted.dv}};
  for (const auto &[name, tensor, sums] : all) {
    std::vector<bool> isElement(tensor.at.size());
    double worst = 0;
    int64_t worstAt = 0;
    tensor.each([&](int64_t i) {
      isElement[i] = true;
      const double error = std::fabs(numberOf(tensor.at[i]) - sums[i].value) / (sums[i].size + 1e-30);
      if (!std::isnan(worst) && !(error <= worst))
        worst = error, worstAt = i;
    });
    EXPECT_LE(worst, tolerance) << name << " at " << worstAt << " is " << numberOf(tensor.at[worstAt]) << " and not "
                                << sums[worstAt].value << ": " << testCase;
    for (size_t i = 0; i < tensor.at.size(); ++i)
      ASSERT_TRUE(isElement[i] || std::isnan(numberOf(tensor.at[i])))
          << name << " in the gap at " << i << ": " << testCase;
  }
  for (size_t i = 0; i < wanted.lse.size(); ++i)
    if (std::isinf(wanted.lse[i]))
      EXPECT_EQ(lse[i], wanted.lse[i]) << testCase;
    else
      EXPECT_NEAR(lse[i], wanted.lse[i], 2e-5) << testCase;
  EXPECT_EQ(std::count_if(lse.begin(), lse.end(), [](float x) { return std::isnan(x); }),
            static_cast<int64_t>(lse.size() - wanted.lse.size()))
      << testCase;
}

} // namespace braid::test
#endif // BRAID_TEST_ATTENTIONCASES_H
