//! Enums whose variants have names, in options, reports and files.

/// Defines an enum from its variants and their names.
macro_rules! named_enum {
    (
        $(#[$attribute:meta])*
        $visibility:vis enum $type:ident { $($(#[$about:meta])* $variant:ident = $name:literal,)* }
    ) => {
        $(#[$attribute])*
        $visibility enum $type {
            $($(#[$about])* $variant,)*
        }

        #[allow(dead_code)] // Not every enum is listed or parsed.
        impl $type {
            /// All variants, in this order.
            pub const ALL: [$type; [$($name),*].len()] = [$($type::$variant),*];

            /// The name.
            pub const fn name(self) -> &'static str {
                match self {
                    $($type::$variant => $name,)*
                }
            }

            /// The variant with this name.
            pub fn from_name(name: &str) -> Option<$type> {
                match name {
                    $($name => Some($type::$variant),)*
                    _ => None,
                }
            }
        }
    };
}

pub(crate) use named_enum;
