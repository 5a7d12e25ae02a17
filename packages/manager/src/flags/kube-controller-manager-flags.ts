/** All flags of kube-controller-manager 1.36. Contract: docs/behaviour/runtime/manager.md, Flags. */
import { controllerFlags } from './controller-flags.ts'
import type { FlagGroup } from './flag-group.ts'
import { generalFlags } from './general-flags.ts'
import type { FlagDefinition } from './pflag.ts'
import { servingFlags } from './serving-flags.ts'

/** In the order of --help: what concerns all first, `--help` and `--version` last. */
export const flagGroups: readonly FlagGroup[] = [
  ...generalFlags.slice(0, 3),
  ...servingFlags,
  ...controllerFlags,
  ...generalFlags.slice(3),
]

export const flagDefinitions: readonly FlagDefinition[] = flagGroups.flatMap(({ flags }) => flags)
