/** Which overloads of a function a call may mean. */
import { Substitution, assignAll } from './assignability.ts'
import type { Overload } from './signature.ts'
import { DYN, typeText } from './types.ts'
import type { CelType } from './types.ts'

interface Resolution {
  readonly candidates: readonly Overload[]
  /** Undefined: no overload fits. What the candidates have in common, DYN when they differ. */
  readonly result: CelType | undefined
}

/** Candidates that fit bind type variables of the arguments in `substitution`. */
export function resolveOverloads(
  overloads: readonly Overload[],
  args: readonly CelType[],
  member: boolean,
  substitution: Substitution,
  newVariable: () => CelType,
): Resolution {
  const candidates: Overload[] = []
  let result: CelType | undefined
  for (const overload of overloads) {
    if (overload.member !== member || overload.parameters.length !== args.length) continue
    const instance = instantiate(overload, newVariable)
    if (!assignAll(substitution, args, instance.parameters)) continue
    candidates.push(overload)
    const type = substitution.apply(instance.result)
    if (result === undefined) result = type
    else if (typeText(result) !== typeText(type)) result = DYN
  }
  return { candidates, result }
}

/** The overload with type variables of its own, so that two calls do not share them. */
function instantiate(
  { parameters, result }: Overload,
  newVariable: () => CelType,
): { readonly parameters: readonly CelType[]; readonly result: CelType } {
  const fresh = new Substitution()
  const rename = (type: CelType): CelType => {
    for (const name of parameterNames(type)) {
      if (fresh.get({ kind: 'parameter', name }) === undefined)
        fresh.set({ kind: 'parameter', name }, newVariable())
    }
    return fresh.apply(type)
  }
  return { parameters: parameters.map(rename), result: rename(result) }
}

function parameterNames(type: CelType): string[] {
  switch (type.kind) {
    case 'parameter':
      return [type.name]
    case 'list':
      return parameterNames(type.element)
    case 'map':
      return [...parameterNames(type.key), ...parameterNames(type.value)]
    case 'opaque':
      return type.parameters.flatMap(parameterNames)
    case 'type':
      return type.of === undefined ? [] : parameterNames(type.of)
    default:
      return []
  }
}
