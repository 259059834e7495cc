// The frame of a picture: a sentence that says what is to be seen, the picture in real pixels, and
// the same as a table.
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

export interface FigureProps {
  /** What is to be seen, in one sentence: the caption, and the picture's name. */
  says: string
  height: number
  draw: (width: number) => ComponentChildren
  table?: ComponentChildren
}

export function Figure(props: FigureProps) {
  const frame = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(0)
  useEffect(() => {
    const watch = new ResizeObserver(([one]) => setWidth(Math.floor(one.contentRect.width)))
    watch.observe(frame.current!)
    return () => watch.disconnect()
  }, [])
  return (
    <figure>
      <figcaption>{props.says}</figcaption>
      <div ref={frame}>
        <svg width={Math.max(width, 1)} height={props.height} role="img" aria-label={props.says}>
          {width > 0 && props.draw(width)}
        </svg>
      </div>
      {props.table && (
        <details>
          <summary>As a table</summary>
          {props.table}
        </details>
      )}
    </figure>
  )
}

/** A text on the axis below a picture, which stays inside of it. */
export function AxisText(props: { x: number; y: number; width: number; text: string }) {
  const anchor = props.x < 40 ? 'start' : props.x > props.width - 40 ? 'end' : 'middle'
  return (
    <text x={Math.min(Math.max(props.x, 0), props.width)} y={props.y} text-anchor={anchor}>
      {props.text}
    </text>
  )
}
