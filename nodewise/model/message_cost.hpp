// The cost of one message: the postal model and the max-rate model.
#pragma once

#include "nodewise/model/machine.hpp"

namespace nodewise::model {

/// Local. T = alpha + beta s, in seconds, for a message of s bytes (Bienz 2018, eq. 2.1), with
/// beta = 1 / rate.
double postal_s(const MessageParameters& parameters, double bytes);

/// Local. T = alpha + ppn s / min(R_N, ppn R_b): a message of s bytes from each of ppn ranks of a
/// node at once (Gropp, Olson, Samfass 2016; Bienz 2018, eq. 2.2). Below R_N = ppn R_b, and so
/// without a limit of injection, it is the postal model. Throws invalid_argument unless ppn >= 1.
double max_rate_s(const MessageParameters& parameters, double bytes, int ppn);

/// Local. The node-aware model (Bienz 2018, section 3.3): each locality and protocol has its own
/// parameters; what stays on the node is not injected, so that the postal model does there.
double message_s(const Machine& machine, Locality locality, double bytes, int ppn);

}  // namespace nodewise::model
