/** Whether devices are what classes and requests ask for. Expressions are compiled once. */
import type { DeviceSelector as SelectorText } from '@gyropilot/api'
import { deviceSelectors } from '@gyropilot/cel/load'
import type { DeviceSelector } from '@gyropilot/cel/device-selector'
import type { PublishedDevice } from './device-pools.ts'

/** An expression that cannot be compiled or evaluated selects nothing. */
export class Selectors {
  readonly #compiled = new Map<string, DeviceSelector | undefined>()

  select(texts: readonly SelectorText[], { driver, device }: PublishedDevice): boolean {
    return texts.every(({ cel }) => {
      if (cel === undefined) return true
      try {
        return this.#selector(cel.expression)?.selects(driver, device) ?? false
      } catch {
        return false
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
