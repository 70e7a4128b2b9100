/* SPDX-License-Identifier: GPL-2.0-only */
#include "semicoupled.h"
#include "shell.h"

AB_CONTROLLER("ab_semicoupled");
