// What does not fit is an error, never wrong code.
//
// RUN: braid-opt %s --comm-partition --split-input-file --verify-diagnostics

comm.mesh @mesh [tp = 2]

// expected-error @below {{argument #0 'x' of type 'tensor<4xf32>' has no comm.sharding; run comm-propagate first}}
func.func @argument(%x: tensor<4xf32> {tg.input = "x"}, %y: tensor<4xf32> {comm.sharding = #comm.sharding<@mesh, {tp}>})
    -> (tensor<4xf32> {comm.sharding = #comm.sharding<@mesh, {tp}>}) {
  return %y : tensor<4xf32>
}

// -----

comm.mesh @mesh [tp = 2]

func.func @result(%x: tensor<4xf32> {comm.sharding = #comm.sharding<@mesh, {tp}>}) -> tensor<4xf32> {
  // expected-error @below {{returns result #0 as #comm.sharding<@mesh, {tp}>, but the function declares #comm.sharding<@mesh, {}>}}
  return %x : tensor<4xf32>
}

// -----

comm.mesh @mesh [tp = 2]

func.func @op(%x: tensor<4xf32> {comm.sharding = #comm.sharding<@mesh, {tp}>})
    -> (tensor<4xf32> {comm.sharding = #comm.sharding<@mesh, {tp}>}) {
  // expected-error @below {{has no 'comm.shardings', but other ops of the function have}}
  %y = math.exp %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

comm.mesh @mesh [tp = 2]

func.func @disagree(%x: tensor<4xf32> {comm.sharding = #comm.sharding<@mesh, {tp}>},
                    %z: tensor<4xf32> {comm.sharding = #comm.sharding<@mesh, {}>})
    -> (tensor<4xf32> {comm.sharding = #comm.sharding<@mesh, {tp}>}) {
  // expected-error @below {{operand #0 shards the same factor over {tp}, but operand #1 over {}}}
  %y = arith.addf %x, %z {comm.shardings = [#comm.sharding<@mesh, {tp}>]} : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

comm.mesh @mesh [tp = 2]

func.func @whole_factor(%x: tensor<4x6xf32> {comm.sharding = #comm.sharding<@mesh, {} {tp}>})
    -> (tensor<4x6xf32> {comm.sharding = #comm.sharding<@mesh, {} {tp}>}) {
  // expected-error @below {{dim 1 of operand #0 is sharded over {tp}, but the op needs it whole}}
  %y = tg.softmax %x {comm.shardings = [#comm.sharding<@mesh, {} {tp}>]} : tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// -----

comm.mesh @mesh [tp = 2]

func.func @not_flat(%x: tensor<4x6xf32> {comm.sharding = #comm.sharding<@mesh, {} {}, flat {tp}>})
    -> (tensor<6x4xf32> {comm.sharding = #comm.sharding<@mesh, {} {}, flat {tp}>}) {
  // expected-error @below {{the op does not run on flat ranges}}
  %y = tg.transpose %x [1, 0] {comm.shardings = [#comm.sharding<@mesh, {} {}, flat {tp}>]}
      : tensor<4x6xf32> -> tensor<6x4xf32>
  return %y : tensor<6x4xf32>
}

// -----

comm.mesh @mesh [tp = 2]

// The matmul gives a partial sum; the function says that it is not.
func.func @partial_result(%x: tensor<4x8xf32> {comm.sharding = #comm.sharding<@mesh, {} {tp}>},
                          %w: tensor<8x6xf32> {comm.sharding = #comm.sharding<@mesh, {tp} {}>})
    -> (tensor<4x6xf32> {comm.sharding = #comm.sharding<@mesh, {} {}>}) {
  // expected-error @below {{yields result #0 as #comm.sharding<@mesh, {} {}, partial sum {tp}>, but 'comm.shardings' says #comm.sharding<@mesh, {} {}>}}
  %y = tg.contract "bd,df->bf" %x, %w {comm.shardings = [#comm.sharding<@mesh, {} {}>]}
      : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// -----

comm.mesh @mesh [tp = 2]

func.func @partial_operand(%x: tensor<4x8xf32> {comm.sharding = #comm.sharding<@mesh, {} {tp}>})
    -> (tensor<4xf32> {comm.sharding = #comm.sharding<@mesh, {}>}) {
  // expected-note @below {{the partial value is made here}}
  %s = tg.reduce sum %x dims [1] {comm.shardings = [#comm.sharding<@mesh, {}, partial sum {tp}>]}
      : tensor<4x8xf32> -> tensor<4xf32>
  // expected-error @below {{has a partial value used as if reduced: operand #0}}
  %e = math.exp %s {comm.shardings = [#comm.sharding<@mesh, {}>]} : tensor<4xf32>
  return %e : tensor<4xf32>
}

// -----

comm.mesh @mesh [tp = 2]

func.func @returned(%x: tensor<4xf32> {comm.sharding = #comm.sharding<@mesh, {tp}>})
    -> (tensor<4xf32> {tg.output = "y", comm.sharding = #comm.sharding<@mesh, {}>}) {
  // expected-error @below {{returns result #0 (tg.output = "y") as #comm.sharding<@mesh, {tp}>, but the function declares #comm.sharding<@mesh, {}>}}
  return %x : tensor<4xf32>
}

// -----

comm.mesh @mesh [tp = 2]

// expected-error @below {{result #0 (tg.updates = "w") has #comm.sharding<@mesh, {}>, but argument #0 'w', which it updates in place, has #comm.sharding<@mesh, {tp}>; give both one sharding}}
func.func @updates(%w: tensor<4xf32> {tg.param = #tg.param<"w", #tg.init<zeros>>,
                                      comm.sharding = #comm.sharding<@mesh, {tp}>})
    -> (tensor<4xf32> {tg.updates = "w", comm.sharding = #comm.sharding<@mesh, {}>}) {
  %n = comm.reshard %w <@mesh, {}> : tensor<4xf32>
  return %n : tensor<4xf32>
}

// -----

comm.mesh @mesh [tp = 2]

func.func @becomes_partial(%x: tensor<4xf32> {comm.sharding = #comm.sharding<@mesh, {}>})
    -> (tensor<4xf32> {comm.sharding = #comm.sharding<@mesh, {}, partial sum {tp}>}) {
  // expected-error @below {{a value never becomes partial}}
  %n = comm.reshard %x <@mesh, {}, partial sum {tp}> : tensor<4xf32>
  return %n : tensor<4xf32>
}

// -----

comm.mesh @mesh [tp = 2]

// An op without a rule runs on whole tensors alone.
func.func private @callee(tensor<4xf32>) -> tensor<4xf32>
func.func @no_rule(%x: tensor<4xf32> {comm.sharding = #comm.sharding<@mesh, {tp}>})
    -> (tensor<4xf32> {comm.sharding = #comm.sharding<@mesh, {}>}) {
  // expected-error @below {{has no sharding rule, but its operand #0 is #comm.sharding<@mesh, {tp}>; reshard it to a replicated value first}}
  %y = func.call @callee(%x) {comm.shardings = [#comm.sharding<@mesh, {}>]} : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

comm.mesh @mesh [dp = 2]

// A scalar in flat ranges is held by one rank: others have padding.
func.func @flat_scalar(%x: tensor<f32> {comm.sharding = #comm.sharding<@mesh, flat {dp}>})
    -> (tensor<f32> {comm.sharding = #comm.sharding<@mesh>}) {
  // expected-error @below {{reads operand #0 as #comm.sharding<@mesh>, but it is #comm.sharding<@mesh, flat {dp}>}}
  %e = math.exp %x {comm.shardings = [#comm.sharding<@mesh>]} : tensor<f32>
  return %e : tensor<f32>
}

// -----

comm.mesh @mesh [dp = 2]

func.func @left(%x: tensor<4xf32> {comm.sharding = #comm.sharding<@mesh, {dp}>})
    -> (tensor<4xf32> {comm.sharding = #comm.sharding<@mesh, {dp}>}) {
  // expected-error @below {{remains; run comm-insert-reshards, which turns it into a comm.reshard}}
  %y = comm.constrain %x <@mesh, {dp}> : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

comm.mesh @mesh [dp = 2]

// Rank i would add the rows of part i of the tokens to part i of the table alone.
func.func @two_factors(%tokens: tensor<4xi32> {comm.sharding = #comm.sharding<@mesh, {dp}>},
                       %dy: tensor<4x3xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {}>})
    -> (tensor<6x3xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {}>}) {
  // expected-error @below {{has two different dims sharded over 'dp'; reshard one of the operands first}}
  %t = tg.scatter_add %tokens, %dy {comm.shardings = [#comm.sharding<@mesh, {dp} {}>]}
      : (tensor<4xi32>, tensor<4x3xf32>) -> tensor<6x3xf32>
  return %t : tensor<6x3xf32>
}
