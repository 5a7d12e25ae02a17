/** Objects in the versions in which somebody owns fields of them, where a webhook converts. */
import type { TypedKind } from '@gyropilot/apply'
import { ApiError } from '../contracts.ts'
import { stringifyExact } from '@gyropilot/foundation/exact-json'
import type { Draft, Stored } from '@gyropilot/schema/objects'

type Convert = (object: Stored, apiVersion: string) => Promise<Draft>

/** What is to be asked of the webhook before the work can be done. */
class NotConvertedYet extends Error {
  readonly object: Stored
  readonly apiVersion: string

  constructor(object: Stored, apiVersion: string) {
    super('not converted yet')
    this.object = object
    this.apiVersion = apiVersion
  }
}

/**
 * Does work that converts in its middle: begun again each time that it has met an object which the webhook has to convert
 * first, it ends with what it answers when all are there. A webhook that fails does so where its answer would be used.
 */
export async function convertingAtNeed<T>(
  kind: TypedKind,
  apiVersion: string,
  convert: Convert,
  work: (kind: TypedKind) => T,
): Promise<T> {
  const known = new Map<string, Draft | ApiError>()
  const keyOf = (object: Stored, to: string): string => `${to} ${stringifyExact(object)}`
  const inForm = (object: Stored, to: string): Stored => {
    // The object that nobody has filled in is none of any version.
    if (object['kind'] === undefined) return object
    const converted = known.get(keyOf(object, to))
    if (converted === undefined) throw new NotConvertedYet(object, to)
    if (converted instanceof ApiError) throw converted
    return converted
  }
  const typed: TypedKind = {
    ...kind,
    converts: true,
    inVersion(version) {
      const other = kind.inVersion?.(version)
      return (
        other && {
          ...other,
          convert: (object) => inForm(object, version),
          revert: (object) => inForm(object, apiVersion),
        }
      )
    },
  }
  for (;;) {
    try {
      return work(typed)
    } catch (error) {
      if (!(error instanceof NotConvertedYet)) throw error
      const { object, apiVersion: wanted } = error
      const answer = await convert(object, wanted).catch((failure: unknown) => {
        if (failure instanceof ApiError) return failure
        throw failure
      })
      known.set(keyOf(object, wanted), answer)
    }
  }
}
