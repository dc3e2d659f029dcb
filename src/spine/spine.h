#pragma once
/// The event spine: one append-only stream on which every decision, attempt, outcome and price lands.
#include "spine/event.h"
#include "spine/label.h"
#include "spine/live_column.h"
#include "spine/record.h"
