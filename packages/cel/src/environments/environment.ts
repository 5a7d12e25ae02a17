/** What an expression may name: variables, functions, types. Environments are built up from smaller ones and never change. */
import type { Library, Overload } from '../checking/signature.ts'
import type { CelType, ObjectType } from '../checking/types.ts'

export class Environment {
  readonly #variables: ReadonlyMap<string, CelType>
  readonly #functions: ReadonlyMap<string, readonly Overload[]>
  readonly #constants: ReadonlyMap<string, CelType>
  readonly #structs: readonly ((name: string) => ObjectType | undefined)[]
  /** Whether `cel.bind(name, value, expression)` gives a value a name. */
  readonly hasBindings: boolean

  private constructor(
    variables: ReadonlyMap<string, CelType>,
    functions: ReadonlyMap<string, readonly Overload[]>,
    constants: ReadonlyMap<string, CelType>,
    structs: readonly ((name: string) => ObjectType | undefined)[],
    hasBindings = false,
  ) {
    this.#variables = variables
    this.#functions = functions
    this.#constants = constants
    this.#structs = structs
    this.hasBindings = hasBindings
  }

  static of(libraries: readonly Library[]): Environment {
    const functions = new Map<string, Overload[]>()
    const constants = new Map<string, CelType>()
    for (const library of libraries) {
      for (const overload of library.overloads) {
        const known = functions.get(overload.function)
        if (known === undefined) functions.set(overload.function, [overload])
        else known.push(overload)
      }
      for (const { name, type } of library.constants ?? []) constants.set(name, type)
    }
    return new Environment(new Map(), functions, constants, [])
  }

  /** Names may be dotted: `authorizer.requestResource` is a variable of its own. */
  withVariables(variables: Readonly<Record<string, CelType>>): Environment {
    const all = new Map([...this.#variables, ...Object.entries(variables)])
    return new Environment(all, this.#functions, this.#constants, this.#structs, this.hasBindings)
  }

  withBindings(): Environment {
    return new Environment(this.#variables, this.#functions, this.#constants, this.#structs, true)
  }

  /** Types that literals `Name{...}` may construct. */
  withStructs(find: (name: string) => ObjectType | undefined): Environment {
    const structs = [...this.#structs, find]
    return new Environment(
      this.#variables,
      this.#functions,
      this.#constants,
      structs,
      this.hasBindings,
    )
  }

  variable(name: string): CelType | undefined {
    return this.#variables.get(name)
  }

  /** The type that a name stands for as a value. */
  constant(name: string): CelType | undefined {
    return this.#constants.get(name)
  }

  overloads(name: string): readonly Overload[] | undefined {
    return this.#functions.get(name)
  }

  struct(name: string): ObjectType | undefined {
    for (const find of this.#structs) {
      const found = find(name)
      if (found !== undefined) return found
    }
    return undefined
  }
}
