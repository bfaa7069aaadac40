// RUN: braid-opt %s --comm-verify-shardings --split-input-file --verify-diagnostics

comm.mesh @mesh [tp = 2]

func.func @used_as_if_reduced(%x: tensor<4x8xf32> {comm.sharding = #comm.sharding<@mesh, {} {tp}>},
                              %w: tensor<8x6xf32> {comm.sharding = #comm.sharding<@mesh, {tp} {}>})
    -> (tensor<4x6xf32> {comm.sharding = #comm.sharding<@mesh, {} {}, partial sum {tp}>}) {
  // expected-note @below {{the partial value is made here}}
  %y = tg.contract "bd,df->bf" %x, %w {comm.shardings = [#comm.sharding<@mesh, {} {}, partial sum {tp}>]}
      : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  // expected-error @below {{has a partial value used as if reduced: operand #0 is partial sum over {tp}, and the op is not linear in it; reduce it first by a comm.reshard}}
  %e = math.exp %y {comm.shardings = [#comm.sharding<@mesh, {} {}, partial sum {tp}>]} : tensor<4x6xf32>
  return %e : tensor<4x6xf32>
}

// -----

comm.mesh @mesh [tp = 2]

// A sum is linear in both operands together.
// expected-note @below {{the partial value is made here}}
func.func @sum_with_whole(%p: tensor<4xf32> {comm.sharding = #comm.sharding<@mesh, {}, partial sum {tp}>},
                          %x: tensor<4xf32> {comm.sharding = #comm.sharding<@mesh, {}>})
    -> (tensor<4xf32> {comm.sharding = #comm.sharding<@mesh, {}, partial sum {tp}>}) {
  // expected-error @below {{operand #0 is partial sum over {tp}, and the op is not linear in it; reduce it first}}
  %s = arith.addf %p, %x {comm.shardings = [#comm.sharding<@mesh, {}, partial sum {tp}>]} : tensor<4xf32>
  return %s : tensor<4xf32>
}

// -----

comm.mesh @mesh [tp = 2]

// A maximum of maxima is not linear.
// expected-note @below {{the partial value is made here}}
func.func @max(%p: tensor<4xf32> {comm.sharding = #comm.sharding<@mesh, {}, partial max {tp}>})
    -> (tensor<4xf32> {comm.sharding = #comm.sharding<@mesh, {}, partial max {tp}>}) {
  // expected-error @below {{operand #0 is partial max over {tp}}}
  %s = arith.negf %p {comm.shardings = [#comm.sharding<@mesh, {}, partial max {tp}>]} : tensor<4xf32>
  return %s : tensor<4xf32>
}

// -----

comm.mesh @mesh [tp = 2]

func.func @whole_factor(%x: tensor<4x8xf32> {comm.sharding = #comm.sharding<@mesh, {} {tp}>})
    -> (tensor<4x8xf32> {comm.sharding = #comm.sharding<@mesh, {} {tp}>}) {
  // expected-error @below {{dim 1 of operand #0 is sharded over {tp}, but the op needs it whole}}
  %y = tg.softmax %x {comm.shardings = [#comm.sharding<@mesh, {} {tp}>]} : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

comm.mesh @mesh [dp = 2, tp = 2]

func.func @operands_disagree(%x: tensor<4x8xf32> {comm.sharding = #comm.sharding<@mesh, {} {tp}>},
                             %w: tensor<8x6xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {}>}) -> tensor<4x6xf32> {
  // expected-error @below {{operand #0 shards the same factor over {tp}, but operand #1 over {dp}}}
  %y = tg.contract "bd,df->bf" %x, %w {comm.shardings = [#comm.sharding<@mesh, {} {}>]}
      : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// -----

comm.mesh @mesh [tp = 2]

func.func @result_not_partial(%x: tensor<4x8xf32> {comm.sharding = #comm.sharding<@mesh, {} {tp}>},
                              %w: tensor<8x6xf32> {comm.sharding = #comm.sharding<@mesh, {tp} {}>}) -> tensor<4x6xf32> {
  // expected-error @below {{yields result #0 as #comm.sharding<@mesh, {} {}, partial sum {tp}>, but 'comm.shardings' says #comm.sharding<@mesh, {} {}>}}
  %y = tg.contract "bd,df->bf" %x, %w {comm.shardings = [#comm.sharding<@mesh, {} {}>]}
      : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// -----

comm.mesh @mesh [tp = 2]

func.func @flat(%x: tensor<4x8xf32> {comm.sharding = #comm.sharding<@mesh, {} {}, flat {tp}>})
    -> (tensor<8x4xf32> {comm.sharding = #comm.sharding<@mesh, {} {}, flat {tp}>}) {
  // expected-error @below {{operand #0 is sharded in flat ranges, but the op does not run on flat ranges}}
  %y = tg.transpose %x [1, 0] {comm.shardings = [#comm.sharding<@mesh, {} {}, flat {tp}>]} : tensor<4x8xf32> -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// -----

comm.mesh @mesh [tp = 2]

func.func @partial_from_whole(%x: tensor<4xf32> {comm.sharding = #comm.sharding<@mesh, {}>})
    -> (tensor<4xf32> {comm.sharding = #comm.sharding<@mesh, {}, partial sum {tp}>}) {
  // expected-error @below {{makes partial values of whole ones}}
  %y = comm.reshard %x <@mesh, {}, partial sum {tp}> : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

comm.mesh @mesh [tp = 2]

func.func @result(%x: tensor<4xf32> {comm.sharding = #comm.sharding<@mesh, {tp}>})
    -> (tensor<4xf32> {tg.role = #tg.role<logits>, comm.sharding = #comm.sharding<@mesh, {}>}) {
  %y = math.exp %x {comm.shardings = [#comm.sharding<@mesh, {tp}>]} : tensor<4xf32>
  // expected-error @below {{returns result #0 (tg.role = #tg.role<logits>) as #comm.sharding<@mesh, {tp}>, but the function declares #comm.sharding<@mesh, {}>; comm-insert-reshards puts a comm.reshard between}}
  return %y : tensor<4xf32>
}

// -----

comm.mesh @mesh [tp = 2]

func.func @some_without(%x: tensor<4xf32> {comm.sharding = #comm.sharding<@mesh, {tp}>}) -> tensor<4xf32> {
  %y = math.exp %x {comm.shardings = [#comm.sharding<@mesh, {tp}>]} : tensor<4xf32>
  // expected-error @below {{has no 'comm.shardings', but other ops of the function have}}
  %z = math.exp %y : tensor<4xf32>
  return %z : tensor<4xf32>
}

// -----

comm.mesh @mesh [tp = 2]

func.func @constraint_left(%x: tensor<4xf32> {comm.sharding = #comm.sharding<@mesh, {tp}>})
    -> (tensor<4xf32> {comm.sharding = #comm.sharding<@mesh, {tp}>}) {
  // expected-error @below {{remains; run comm-insert-reshards, which turns it into a comm.reshard}}
  %y = comm.constrain %x <@mesh, {tp}> : tensor<4xf32>
  %z = math.exp %y {comm.shardings = [#comm.sharding<@mesh, {tp}>]} : tensor<4xf32>
  return %z : tensor<4xf32>
}
