/** Whether devices are what classes and requests ask for. Expressions are compiled once, as long as not too many others are used. */
import type { DeviceSelector as SelectorText } from '@gyropilot/api'
import { deviceSelectors } from '@gyropilot/cel/load'
import { errorText } from '@gyropilot/foundation'
import type { DeviceSelector } from '@gyropilot/cel/device-selector'
import { LruCache } from '@gyropilot/runtime'
import { AllocationError } from './allocation-error.ts'
import type { PublishedDevice } from './device-pools.ts'

/** Anybody who may make claims makes up expressions, and each takes up to 10 KiB and its program. */
const MOST_COMPILED = 500

export class Selectors {
  readonly #compiled = new LruCache<DeviceSelector>(MOST_COMPILED)
  readonly #compile: (expression: string) => DeviceSelector

  constructor(compile = compiled) {
    this.#compile = compile
  }

  /**
   * Throws AllocationError for an expression that cannot be evaluated. One that cannot be compiled selects nothing.
   * `whose`: `class c`, `claim ns/c`.
   */
  select(
    texts: readonly SelectorText[],
    { driver, device }: PublishedDevice,
    whose: string,
  ): boolean {
    return texts.every(({ cel: found }, index) => {
      if (found === undefined) return true
      try {
        return this.#selector(found.expression).selects(driver, device)
      } catch (error) {
        throw new AllocationError(
          `${whose}: selector #${index}: CEL runtime error: ${errorText(error)}`,
        )
      }
    })
  }

  #selector(expression: string): DeviceSelector {
    let selector = this.#compiled.get(expression)
    if (selector === undefined) {
      selector = this.#compile(expression)
      this.#compiled.set(expression, selector)
    }
    return selector
  }
}

const NOTHING: DeviceSelector = { selects: () => false }

function compiled(expression: string): DeviceSelector {
  try {
    return deviceSelectors().compileDeviceSelector(expression)
  } catch {
    return NOTHING
  }
}
