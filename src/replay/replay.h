#pragma once
/// The brain under a fake clock, against a plant that is not the brain's belief.
#include "replay/source.h"
