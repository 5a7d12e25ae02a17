import type { Level } from './checks.ts'

export const MODES = ['enforce', 'audit', 'warn'] as const

/** What holds where a namespace has no label: the defaults of upstream's PodSecurityConfiguration. */
export type PodSecurityDefaults = Partial<Readonly<Record<(typeof MODES)[number], Level>>>
