/** Which types stand for which, while parameters of signatures are being found out. */
import { DYN, isDynamic } from './types.ts'
import type { CelType, ParameterType } from './types.ts'

/** What parameters stand for. Copied when an attempt may fail. */
export class Substitution {
  readonly #types: Map<string, CelType>

  constructor(types: ReadonlyMap<string, CelType> = new Map()) {
    this.#types = new Map(types)
  }

  copy(): Substitution {
    return new Substitution(this.#types)
  }

  take(other: Substitution): void {
    this.#types.clear()
    for (const [name, type] of other.#types) this.#types.set(name, type)
  }

  get({ name }: ParameterType): CelType | undefined {
    return this.#types.get(name)
  }

  set({ name }: ParameterType, type: CelType): void {
    this.#types.set(name, type)
  }

  /** The type with what is known put in. Unknown parameters become dyn with `settle`. */
  apply(type: CelType, settle = false): CelType {
    switch (type.kind) {
      case 'parameter': {
        const known = this.#types.get(type.name)
        if (known !== undefined) return this.apply(known, settle)
        return settle ? DYN : type
      }
      case 'list': {
        const element = this.apply(type.element, settle)
        return element === type.element ? type : { ...type, element }
      }
      case 'map': {
        const key = this.apply(type.key, settle)
        const value = this.apply(type.value, settle)
        return key === type.key && value === type.value ? type : { ...type, key, value }
      }
      case 'opaque':
        if (type.parameters.length === 0) return type
        return { ...type, parameters: type.parameters.map((part) => this.apply(part, settle)) }
      case 'type':
        return type.of === undefined ? type : { ...type, of: this.apply(type.of, settle) }
      default:
        return type
    }
  }
}

/** Whether a value of `from` may be used as `to`. Fills in parameters only when it may. */
export function assign(substitution: Substitution, from: CelType, to: CelType): boolean {
  const attempt = substitution.copy()
  if (!assignable(attempt, from, to)) return false
  substitution.take(attempt)
  return true
}

/** The same for arguments of a call, which must agree together. */
export function assignAll(
  substitution: Substitution,
  from: readonly CelType[],
  to: readonly CelType[],
): boolean {
  if (from.length !== to.length) return false
  const attempt = substitution.copy()
  if (!from.every((type, index) => assignable(attempt, type, to[index]!))) return false
  substitution.take(attempt)
  return true
}

function assignable(known: Substitution, from: CelType, to: CelType): boolean {
  if (to.kind === 'parameter')
    return bind(known, to, from, (bound) => assignable(known, from, bound))
  if (from.kind === 'parameter')
    return bind(known, from, to, (bound) => assignable(known, bound, to))
  if (isDynamic(from) || isDynamic(to)) return true
  if (from.kind === 'null') return acceptsNull(to)
  if (from.kind !== to.kind) return false
  switch (from.kind) {
    case 'list':
      return assignable(known, from.element, (to as typeof from).element)
    case 'map': {
      const other = to as typeof from
      return assignable(known, from.key, other.key) && assignable(known, from.value, other.value)
    }
    case 'object':
      return from.name === (to as typeof from).name
    case 'opaque': {
      const other = to as typeof from
      return (
        from.name === other.name &&
        from.parameters.every((type, index) => assignable(known, type, other.parameters[index]!))
      )
    }
    // A type is a value like another: which one does not matter.
    default:
      return true
  }
}

function bind(
  known: Substitution,
  variable: ParameterType,
  type: CelType,
  check: (bound: CelType) => boolean,
): boolean {
  const bound = known.get(variable)
  if (bound !== undefined) {
    if (check(bound)) {
      // What was one type and is also dyn is dyn.
      if (type.kind === 'dyn' && bound.kind !== 'parameter') known.set(variable, DYN)
      return true
    }
    // The wider of two wins: null first, the object later.
    if (bound.kind === 'null' && acceptsNull(type)) {
      known.set(variable, type)
      return true
    }
    return false
  }
  const same = resolved(known, type)
  if (same.kind === 'parameter' && same.name === variable.name) return true
  if (mentions(known, type, variable)) return false
  known.set(variable, type)
  return true
}

/** What a parameter stands for by way of others. */
function resolved(known: Substitution, type: CelType): CelType {
  let current = type
  while (current.kind === 'parameter') {
    const next = known.get(current)
    if (next === undefined) return current
    current = next
  }
  return current
}

function acceptsNull(type: CelType): boolean {
  return ['null', 'object', 'opaque', 'timestamp', 'duration', 'dyn', 'error'].includes(type.kind)
}

/** A type cannot be part of itself. */
function mentions(known: Substitution, type: CelType, variable: ParameterType): boolean {
  switch (type.kind) {
    case 'parameter': {
      if (type.name === variable.name) return true
      const bound = known.get(type)
      return bound !== undefined && mentions(known, bound, variable)
    }
    case 'list':
      return mentions(known, type.element, variable)
    case 'map':
      return mentions(known, type.key, variable) || mentions(known, type.value, variable)
    case 'opaque':
      return type.parameters.some((part) => mentions(known, part, variable))
    default:
      return false
  }
}
