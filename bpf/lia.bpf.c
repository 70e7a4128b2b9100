/* SPDX-License-Identifier: GPL-2.0-only */
#include "lia.h"
#include "shell.h"

AB_CONTROLLER("ab_lia");
