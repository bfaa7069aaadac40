//===- RandomLanes.h - random numbers, a vector at a time -----------------===//
//
// RandomNumbers.cpp includes this file once for each instruction set, inside a separate namespace;
// so it has no include guard.  The including file defines the differences first:
//
//   LANE_FUNCTION, DRAW_FUNCTION     how functions are declared
//   Doubles, Words, Floats           lanes of double, uint64_t and float
//   multiplyLow(a, b)                   products of the lower 32 bits of each lane
//   root(x), toFloats(x)             rounded by IEEE 754
//   anyDiffers(a, b)                 whether any lane differs
//
// Everything else is operators, which give the same bits for any number of lanes.
//
//===----------------------------------------------------------------------===//

constexpr int lanes = sizeof(Doubles) / sizeof(double);
static_assert(braid::drawRoom % lanes == 0);

LANE_FUNCTION Words bitsOf(Doubles x) {
  Words bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}
LANE_FUNCTION Doubles withBits(Words bits) {
  Doubles x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

// Returns the lower 32 bits of each lane as a number, minus `minus`; exact.
LANE_FUNCTION Doubles numberOf(Words word, double minus) {
  const uint64_t lower = 0xffffffff, two52 = 0x4330000000000000;
  return withBits((word & lower) | two52) - (0x1p52 + minus);
}

// Keys and stream of philox4x32-10, in every lane.
struct Keys {
  Words first[10], second[10], stream;
};
LANE_FUNCTION Keys keysOf(const braid::RandomStream &stream) {
  const Words zero = {};
  Keys keys;
  uint32_t first = static_cast<uint32_t>(stream.seed), second = static_cast<uint32_t>(stream.seed >> 32);
  for (int round = 0; round < 10; ++round, first += 0x9E3779B9u, second += 0xBB67AE85u) {
    keys.first[round] = zero + uint64_t{first};
    keys.second[round] = zero + uint64_t{second};
  }
  keys.stream = zero + uint64_t{stream.stream};
  return keys;
}

// Returns the first two words for an index, in the lower 32 bits.  The upper bits are undefined,
// here and between rounds.
struct WordPair {
  Words first, second;
};
LANE_FUNCTION WordPair philoxWords(const Keys &keys, Words index) {
  const Words zero = {}, m0 = zero + uint64_t{0xD2511F53}, m1 = zero + uint64_t{0xCD9E8D57};
  Words c0 = index, c1 = index >> 32, c2 = zero, c3 = keys.stream;
#pragma GCC unroll 10
  for (int round = 0; round < 10; ++round) {
    const Words p0 = multiplyLow(c0, m0), p1 = multiplyLow(c2, m1);
    c0 = (p1 >> 32) ^ c1 ^ keys.first[round];
    c2 = (p0 >> 32) ^ c3 ^ keys.second[round];
    c1 = p1;
    c3 = p0;
  }
  return {c0, c1};
}

// log((word + 1) / 2^32), with a relative error below 2^-49.
LANE_FUNCTION Doubles logOf(Words word) {
  // word + 1 = m * 2^e with m in [sqrt(1/2), sqrt(2)), and log(m) = 2 atanh(s).
  const Words bits = bitsOf(numberOf(word, -1));
  const Words e = (bits - uint64_t{0x3fe6a09e667f3bcd}) >> 52;
  const Doubles m = withBits(bits - (e << 52));
  const Doubles s = (m - 1.0) / (m + 1.0), z = s * s;
  // 2 atanh(s) / s at the Chebyshev nodes of z.
  Doubles p = z * 0x1.58d5d4a93822dp-3 + 0x1.732320a9c93b0p-3;
  p = p * z + 0x1.c722cceee92f4p-3;
  p = p * z + 0x1.249240b87155dp-2;
  p = p * z + 0x1.999999a435066p-2;
  p = p * z + 0x1.5555555552d50p-1;
  p = p * z + 0x1.0000000000001p+1;
  return numberOf(e, 32) * std::numbers::ln2 + s * p;
}

// cos(2 pi word / 2^32), with an error below 2^-50.
LANE_FUNCTION Doubles cosOf(Words word) {
  // cos(2 pi v) = sin(2 pi (|v - 1/2| - 1/4)), the argument of which is exact.
  const Doubles fromHalf = withBits(bitsOf(numberOf(word, 0x1p31)) & uint64_t{0x7fffffffffffffff});
  const Doubles q = fromHalf * 0x1p-32 - 0.25, z = q * q;
  // sin(2 pi q) / q at the Chebyshev nodes of z.
  Doubles p = z * -0x1.62903d02bb153p-1 + 0x1.e89f6fe44fe7bp+1;
  p = p * z - 0x1.e30631bdf732dp+3;
  p = p * z + 0x1.5078327046959p+5;
  p = p * z - 0x1.32d2cce1ea145p+6;
  p = p * z + 0x1.466bc677522bdp+6;
  p = p * z - 0x1.4abbce625bd83p+5;
  p = p * z + 0x1.921fb54442d17p+2;
  return q * p;
}

LANE_FUNCTION Words loadIndex(const uint64_t *index) {
  Words words;
  std::memcpy(&words, index, sizeof words);
  return words;
}
LANE_FUNCTION void store(float *out, Floats x) { std::memcpy(out, &x, sizeof x); }

// The definition rounds the cosine's argument, so its own error is up to 2^-50 times the radius.
// The margin is about four times that error plus the errors above.
DRAW_FUNCTION void drawNormals(const braid::RandomStream &stream, const uint64_t *index, int64_t count, float *out) {
  const Keys keys = keysOf(stream);
  const double a = stream.a, b = stream.b;
  const double perRadius = std::abs(b) * 0x1p-46, always = std::abs(a) * 0x1p-50;
  for (int64_t i = 0; i < count; i += lanes) {
    const WordPair words = philoxWords(keys, loadIndex(index + i));
    const Doubles radius = root(logOf(words.first) * -2.0);
    const Doubles value = radius * b * cosOf(words.second) + a, margin = radius * perRadius + always;
    const Floats low = toFloats(value - margin), high = toFloats(value + margin);
    store(out + i, low);
    if (__builtin_expect(anyDiffers(low, high), false)) {
      float bound[lanes];
      store(bound, high);
      settle(stream, index + i, lanes, bound, out + i);
    }
  }
}

DRAW_FUNCTION void drawUniforms(const braid::RandomStream &stream, const uint64_t *index, int64_t count, float *out) {
  const Keys keys = keysOf(stream);
  const double a = stream.a, range = stream.b - a;
  for (int64_t i = 0; i < count; i += lanes) {
    const Words word = philoxWords(keys, loadIndex(index + i)).first & uint64_t{0xffffffff};
    store(out + i, toFloats(numberOf(word >> 8, 0) * 0x1p-24 * range + a));
  }
}
