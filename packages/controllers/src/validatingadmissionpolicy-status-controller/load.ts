/**
 * Loads the language and the schemas of the built-in kinds with the first policy: a cluster without policies never pays for
 * them. Rules are synchronous, so this is, too.
 */
import { createRequire } from 'node:module'
import type * as TypeChecker from './type-checker.ts'

let loaded: typeof TypeChecker | undefined

export function typeChecker(): typeof TypeChecker {
  loaded ??= createRequire(import.meta.url)('./type-checker.ts') as typeof TypeChecker
  return loaded
}
