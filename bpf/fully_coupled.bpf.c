/* SPDX-License-Identifier: GPL-2.0-only */
#include "fully_coupled.h"
#include "shell.h"

AB_CONTROLLER("ab_fullycoupled");
