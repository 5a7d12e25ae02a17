/**
 * Loads the language when the first expression is met: a server without rules and policies never pays for it. Validation is
 * synchronous, so this is, too.
 */
import { createRequire } from 'node:module'
import type * as SelectorModule from './device-selector.ts'
import type * as CelModule from './index.ts'

type Cel = typeof CelModule

let loaded: Cel | undefined

export function cel(): Cel {
  loaded ??= createRequire(import.meta.url)('./index.ts') as Cel
  return loaded
}

/** Selectors of devices, with the language. */
export function deviceSelectors(): typeof SelectorModule {
  return createRequire(import.meta.url)('./device-selector.ts') as typeof SelectorModule
}
