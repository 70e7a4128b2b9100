/* SPDX-License-Identifier: GPL-2.0-only */
#include "balia.h"
#include "shell.h"

AB_CONTROLLER("ab_balia");
