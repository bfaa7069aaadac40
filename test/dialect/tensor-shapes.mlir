// Every op, argument and reference takes tensors with static extents of 1 and more and at
// most 2^53 elements, whoever made their types: ops in the generic form have not passed
// the parser of the others (test/dialect/tg/types-invalid.mlir).
//
// RUN: braid-opt %s --split-input-file --verify-diagnostics

comm.mesh @mesh [dp = 2]
func.func @no_heads(%q: tensor<2x4x2x8xf32>, %k: tensor<2x4x0x8xf32>) {
  // expected-error @below {{'tg.attention' op operand #1 must be statically shaped tensor (extents of 1 and more, at most 2^53 elements) of}}
  %o, %l = "tg.attention"(%q, %k, %k) {scale = 0.5, mask = #tg.mask<>, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>} : (tensor<2x4x2x8xf32>, tensor<2x4x0x8xf32>, tensor<2x4x0x8xf32>) -> (tensor<2x4x2x8xf32>, tensor<2x2x4xf32>)
  return
}

// -----

func.func @no_rows(%x: tensor<0x4xf32>) {
  // expected-error @below {{'tg.reshape' op operand #0 must be statically shaped tensor (extents of 1 and more}}
  %y = "tg.reshape"(%x) : (tensor<0x4xf32>) -> tensor<0x2x2xf32>
  return
}

// -----

// 2^62 * 4 elements are 0 in 64 bits, as many as the result seems to have.
func.func @overflow(%x: tensor<4611686018427387904x4xf32>) {
  // expected-error @below {{'tg.reshape' op operand #0 must be statically shaped tensor (extents of 1 and more, at most 2^53 elements)}}
  %y = "tg.reshape"(%x) : (tensor<4611686018427387904x4xf32>) -> tensor<0xf32>
  return
}

// -----

func.func @result(%x: tensor<1xf32>) {
  // expected-error @below {{'tg.broadcast' op result #0 must be statically shaped tensor}}
  %y = "tg.broadcast"(%x) {dims = array<i64: 0>} : (tensor<1xf32>) -> tensor<4503599627370496x4096xf32>
  return
}

// -----

func.func @padding(%x: tensor<4xf32>) {
  // expected-error @below {{padding of low 9223372036854775807 and high 2 makes more than 2^53 elements}}
  %y = tg.pad %x dim 0 low 9223372036854775807 high 2 value 0.0 : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

// As many as there may be.
func.func @most(%x: tensor<1xf32>) {
  %y = tg.broadcast %x dims [0] : tensor<1xf32> -> tensor<9007199254740992xf32>
  return
}

// -----

comm.mesh @mesh [dp = 2]
func.func @collective(%x: tensor<0xf32>) -> tensor<0xf32> attributes {comm.program = #comm.program<@mesh>} {
  // expected-error @below {{'comm.all_reduce' op operand #0 must be}}
  %y = comm.all_reduce sum %x over @mesh {dp} : (tensor<0xf32>) -> tensor<0xf32>
  return %y : tensor<0xf32>
}

// -----

// expected-error @below {{argument #0 of type 'tensor<4x0xf32>' has the extent 0 in dim 1; extents are 1 or more}}
func.func @argument(%x: tensor<4x0xf32> {tg.input = "x"}) {
  return
}

// -----

// expected-error @below {{argument #0 of type 'tensor<4294967296x4294967296xf32>' has more than 2^53 elements, the most that a tensor may have; make its extents smaller}}
func.func @argument_overflow(%x: tensor<4294967296x4294967296xf32> {tg.param = #tg.param<"w", #tg.init<zeros>>}) {
  return
}

// -----

// expected-error @below {{argument #0 of type 'tensor<?xf32>' has no extent in dim 0; give every extent as a number}}
func.func @dynamic(%x: tensor<?xf32> {tg.input = "x"}) {
  return
}

// -----

// expected-error @below {{argument #0 of type 'tensor<*xf32>' has no rank; give every extent as a number}}
func.func @unranked(%x: tensor<*xf32> {tg.input = "x"}) {
  return
}

// -----

// expected-error @below {{argument #0 of type 'f32' is not a tensor}}
func.func @scalar(%x: f32 {tg.role = #tg.role<lr>}) {
  return
}

// -----

// expected-error @below {{reference to a tensor that has the extent 0 in dim 0; extents are 1 or more}}
func.func private @reference(!exec.ref<0x4xf32, [4, 1]>)

// -----

// expected-error @below {{reference spans more than 2^53 elements}}
func.func private @span(!exec.ref<4x4xf32, [4611686018427387904, 1]>)

// -----

// expected-error @below {{attribute 'offset' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative and at most 2^62}}
exec.tensor @w at 9223372036854775807 bytes 16 category parameters : tensor<4xf32> = #tg.param<"w", #tg.init<zeros>>

// -----

// expected-error @below {{attribute 'type' failed to satisfy constraint}}
exec.tensor @w at 0 bytes 16 category parameters : tensor<0xf32> = #tg.param<"w", #tg.init<zeros>>
