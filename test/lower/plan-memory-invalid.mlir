// RUN: braid-opt %s --exec-plan-memory --split-input-file --verify-diagnostics

func.func @not_lowered(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{cannot be planned: only exec actions on values, views and concats have a place in memory; lower it first}}
  %0 = math.exp %x : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @uneven_constant() -> tensor<2xf32> {
  // expected-error @below {{cannot be planned: constants whose elements differ get no storage; make the tensor an input or a frozen parameter}}
  %0 = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// expected-error @below {{updates 'w' with result 0, but no argument is a parameter or state of that name}}
func.func @unknown_update(%x: tensor<8xf32> {tg.input = "x"}) -> (tensor<8xf32> {tg.updates = "w"}) {
  return %x : tensor<8xf32>
}

// -----

// expected-error @below {{updates 'w', a 'tensor<4xf32>', with a 'tensor<8xf32>'}}
func.func @wrong_type(%w: tensor<4xf32> {tg.param = #tg.param<"w", #tg.init<zeros>>}, %x: tensor<8xf32> {tg.input = "x"})
    -> (tensor<8xf32> {tg.updates = "w"}) {
  return %x : tensor<8xf32>
}

// -----

// expected-error @below {{updates 'w' with result 0 and again with result 1}}
func.func @updated_twice(%w: tensor<8xf32> {tg.param = #tg.param<"w", #tg.init<zeros>>}, %x: tensor<8xf32> {tg.input = "x"})
    -> (tensor<8xf32> {tg.updates = "w"}, tensor<8xf32> {tg.updates = "w"}) {
  return %x, %w : tensor<8xf32>, tensor<8xf32>
}

// -----

// expected-error @below {{has 'w' as argument 0 and again as argument 1}}
func.func @named_twice(%w: tensor<8xf32> {tg.param = #tg.param<"w", #tg.init<zeros>>},
                       %v: tensor<8xf32> {tg.param = #tg.param<"w", #tg.init<zeros>>}) {
  return
}

// -----

// expected-note @below {{the other program names it here}}
func.func @train(%w: tensor<8xf32> {tg.param = #tg.param<"w", #tg.init<zeros>>}) {
  return
}

// expected-error @below {{has 'w' as 'tensor<4xf32>' #tg.param<"w", #tg.init<zeros>>, but another program has it as 'tensor<8xf32>' #tg.param<"w", #tg.init<zeros>>}}
func.func @eval(%w: tensor<4xf32> {tg.param = #tg.param<"w", #tg.init<zeros>>}) {
  return
}
