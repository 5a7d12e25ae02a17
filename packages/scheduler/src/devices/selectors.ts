/** Whether devices are what classes and requests ask for. Expressions are compiled once. */
import type { DeviceSelector as SelectorText } from '@gyropilot/api'
import { deviceSelectors } from '@gyropilot/cel/load'
import { errorText } from '@gyropilot/foundation'
import type { DeviceSelector } from '@gyropilot/cel/device-selector'
import { AllocationError } from './allocation-error.ts'
import type { PublishedDevice } from './device-pools.ts'

export class Selectors {
  readonly #compiled = new Map<string, DeviceSelector | undefined>()

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
        return this.#selector(found.expression)?.selects(driver, device) ?? false
      } catch (error) {
        throw new AllocationError(
          `${whose}: selector #${index}: CEL runtime error: ${errorText(error)}`,
        )
      }
    })
  }

  #selector(expression: string): DeviceSelector | undefined {
    if (!this.#compiled.has(expression)) this.#compiled.set(expression, compiled(expression))
    return this.#compiled.get(expression)
  }
}

function compiled(expression: string): DeviceSelector | undefined {
  try {
    return deviceSelectors().compileDeviceSelector(expression)
  } catch {
    return undefined
  }
}
