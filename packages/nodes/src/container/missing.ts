import { isNotFound } from '@gyropilot/client'

/** What was asked for, or undefined when the server has none. */
export async function orMissing<T>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}
