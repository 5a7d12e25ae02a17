/** `echo` of bash and busybox: leading words of `n`, `e` and `E` are options, of which the last one counts. */
import { expanded } from './printf-command.ts'
import type { Command } from '../shell/process.ts'

export const echo: Command = async ({ args, out }) => {
  const isOption = (arg: string): boolean => /^-[neE]+$/.test(arg)
  const first = args.findIndex((arg) => !isOption(arg))
  const words = first < 0 ? [] : args.slice(first)
  const options = args.slice(0, args.length - words.length).join('')
  const text = words.join(' ')
  const interprets = options.lastIndexOf('e') > options.lastIndexOf('E')
  const { value, isEnd } = interprets ? expanded(text) : { value: text, isEnd: false }
  await out(value + (options.includes('n') || isEnd ? '' : '\n'))
  return 0
}
