// RUN: braid-opt %s --comm-insert-reshards --split-input-file --verify-diagnostics

comm.mesh @mesh [tp = 2]

func.func @partial_from_whole(%x: tensor<4xf32> {comm.sharding = #comm.sharding<@mesh, {}>})
    -> (tensor<4xf32> {comm.sharding = #comm.sharding<@mesh, {}, partial sum {tp}>}) {
  // expected-note @below {{the value is made here}}
  %0 = math.exp %x {comm.shardings = [#comm.sharding<@mesh, {}>]} : tensor<4xf32>
  // expected-error @below {{requests the partial sharding #comm.sharding<@mesh, {}, partial sum {tp}>, but the value is #comm.sharding<@mesh, {}>; a whole value never becomes partial, so drop 'partial'}}
  return %0 : tensor<4xf32>
}

// -----

comm.mesh @mesh [tp = 2]

func.func @not_propagated(%x: tensor<4xf32> {comm.sharding = #comm.sharding<@mesh, {}>}) -> tensor<4xf32> {
  // expected-error @below {{has no 'comm.shardings'; run comm-propagate before comm-insert-reshards}}
  %0 = math.exp %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

comm.mesh @mesh [tp = 2]

func.func @factors(%x: tensor<4xf32> {comm.sharding = #comm.sharding<@mesh, {}>}) -> tensor<4xf32> {
  // expected-error @below {{'comm.factors' has 2 factors, but the op's rule a -> a flat has 1}}
  %0 = math.exp %x {comm.factors = #comm.sharding<@mesh, {} {tp}>, comm.shardings = [#comm.sharding<@mesh, {}>]} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

comm.mesh @mesh [tp = 2]

func.func @factors_of_no_axis(%x: tensor<4xf32> {comm.sharding = #comm.sharding<@mesh, {}>}) -> tensor<4xf32> {
  // expected-error @below {{unknown mesh axis 'dp' (mesh: {tp = 2})}}
  %0 = math.exp %x {comm.factors = #comm.sharding<@mesh, {dp}>, comm.shardings = [#comm.sharding<@mesh, {}>]} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

comm.mesh @mesh [tp = 2]

func.func @factors_of_another_kind(%x: tensor<4xf32> {comm.sharding = #comm.sharding<@mesh, {}>}) -> tensor<4xf32> {
  // expected-error @below {{'comm.factors' must be #comm.sharding<...>, found 1}}
  %0 = math.exp %x {comm.factors = 1, comm.shardings = [#comm.sharding<@mesh, {}>]} : tensor<4xf32>
  return %0 : tensor<4xf32>
}
