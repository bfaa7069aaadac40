// What is not a replay of what it says.
// RUN: not braid-opt %s --split-input-file --tg-verify-replays -o /dev/null 2>&1 | FileCheck %s --implicit-check-not=error:

// CHECK: error: {{.*}}'math.log' op differs from the op that it repeats: it is another op
// CHECK: note: {{.*}}the repeated op
func.func @other_op(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  %a = math.exp %x {tg.repeated = 0 : i64} : tensor<4xf32> loc(fused<#tg.facts<forward>>["a"])
  %b = math.log %x {tg.replays = 0 : i64} : tensor<4xf32> loc(fused<#tg.facts<backward>>["b"])
  return
}

// -----

// CHECK: error: {{.*}}'tg.reduce' op differs from the op that it repeats: it has other attributes
// CHECK: note: {{.*}}the repeated op
func.func @attributes(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  %a = tg.reduce sum %x dims [0] {tg.repeated = 0 : i64} : tensor<4xf32> -> tensor<f32> loc(fused<#tg.facts<forward>>["a"])
  %b = tg.reduce max %x dims [0] {tg.replays = 0 : i64} : tensor<4xf32> -> tensor<f32> loc(fused<#tg.facts<backward>>["b"])
  return
}

// -----

// CHECK: error: {{.*}}'math.exp' op differs from the op that it repeats: it has an operand #0 that is neither the same nor a replay of it
// CHECK: note: {{.*}}the repeated op
func.func @operand(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  %a = math.exp %x {tg.repeated = 0 : i64} : tensor<4xf32> loc(fused<#tg.facts<forward>>["a"])
  %b = math.exp %y {tg.replays = 0 : i64} : tensor<4xf32> loc(fused<#tg.facts<backward>>["b"])
  return
}

// -----

// CHECK: error: {{.*}}'math.exp' op is a replay, so it must be backward and repeat an op of forward, but the facts of the two ops have other phases
func.func @phase(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  %a = math.exp %x {tg.repeated = 0 : i64} : tensor<4xf32> loc(fused<#tg.facts<forward>>["a"])
  %b = math.exp %x {tg.replays = 0 : i64} : tensor<4xf32> loc(fused<#tg.facts<forward>>["b"])
  return
}

// -----

// CHECK: error: {{.*}}'math.exp' op replays number 0, but no op above has this 'tg.repeated'
func.func @below(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  %b = math.exp %x {tg.replays = 0 : i64} : tensor<4xf32> loc(fused<#tg.facts<backward>>["b"])
  return
}

// -----

// CHECK: error: {{.*}}'math.log' op is repeated under the number 0, but another op has the same number
func.func @twice(%x: tensor<4xf32>) {
  %a = math.exp %x {tg.repeated = 0 : i64} : tensor<4xf32>
  %b = math.log %x {tg.repeated = 0 : i64} : tensor<4xf32>
  return
}

// -----

// CHECK: error: {{.*}}'comm.all_reduce' op is replayed, but a reduction over ranks is computed once
comm.mesh @mesh [dp = 2]
func.func @reduction(%x: tensor<4xf32>) attributes {comm.program = #comm.program<@mesh>} {
  %a = comm.all_reduce sum %x over @mesh {dp} {tg.repeated = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32> loc(fused<#tg.facts<forward>>["a"])
  %b = comm.all_reduce sum %x over @mesh {dp} {tg.replays = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32> loc(fused<#tg.facts<backward>>["a"])
  return
}

// -----

// CHECK: error: 'math.exp' op has 'tg.replays' = "a", which must be a number of type i64, 0 or more
func.func @mark(%x: tensor<4xf32>) {
  %a = math.exp %x {tg.replays = "a"} : tensor<4xf32>
  return
}
